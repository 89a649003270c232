// Names: of errors, and of the driver's functions.
#include "driver/driver.h"

#include <dlfcn.h>

namespace {

struct Error {
    int number;
    const char *name, *text;
};

constexpr Error errors[] = {
#define ERROR(number, runtime_name, name, text) {number, #name, text},
#include "errors.def"
};

const Error *find_error(CUresult status)
{
    for (auto &each : errors)
        if (each.number == static_cast<int>(status) && strcmp(each.name, "0"))
            return &each;
    return nullptr;
}

// A function's symbol from a version of CUDA on; written from cudaTypedefs.h.
struct Symbol {
    const char *name;
    int since;
    const char *symbol;
};

constexpr Symbol symbols[] = {
#define SYMBOL(name, since, symbol) {#name, since, #symbol},
#include "symbols.def"
};

// The newest form of a function that a program of this version knows.
std::string symbol_for(const char *name, int version)
{
    std::string symbol = name;
    int since = 0;
    for (auto &each : symbols)
        if (!strcmp(each.name, name) && each.since <= version && each.since >= since) {
            symbol = each.symbol;
            since = each.since;
        }
    return symbol;
}

void *find_symbol(const std::string &name)
{
    static void *const library = [] {
        Dl_info info = {};
        dladdr(reinterpret_cast<void *>(&find_symbol), &info);
        return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }();
    return dlsym(library, name.c_str());
}

CUresult find(const char *name, void **function, int version, bool per_thread,
              CUdriverProcAddressQueryResult *result)
{
    REQUIRE(name && function, bad_value);
    std::string symbol = symbol_for(name, version);
    *function = nullptr;
    if (per_thread)
        for (const char *suffix : {"_ptsz", "_ptds"})
            *function = *function ? *function : find_symbol(symbol + suffix);
    if (!*function)
        *function = find_symbol(symbol);
    if (result)
        *result = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function || result ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult describe(CUresult status, const char *Error::*column, const char **text)
{
    REQUIRE(text, bad_value);
    const Error *found = find_error(status);
    *text = found ? found->*column : nullptr;
    return found ? CUDA_SUCCESS : bad_value;
}

} // namespace

#undef cuGetProcAddress
#undef cuGetProcAddress_v2

extern "C" CUresult cuGetProcAddress(const char *name, void **function, int version,
                                     cuuint64_t flags)
{
    return find(name, function, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                nullptr);
}

extern "C" CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
                                        cuuint64_t flags, CUdriverProcAddressQueryResult *result)
{
    return find(name, function, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                result);
}

// For programs that are compiled for per-thread default streams.
extern "C" CUresult cuGetProcAddress_v2_ptsz(const char *name, void **function, int version,
                                             cuuint64_t flags,
                                             CUdriverProcAddressQueryResult *result)
{
    return find(name, function, version, !(flags & CU_GET_PROC_ADDRESS_LEGACY_STREAM), result);
}
