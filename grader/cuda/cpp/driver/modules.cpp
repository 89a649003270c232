// Modules, libraries, links, and the attributes of kernels.
#include "driver/driver.h"

#include <fatbinary_section.h>

#include <cstdio>
#include <elf.h>
#include <fcntl.h>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

struct JitOptions {
    std::string lines = {};
    char *info = nullptr, *error = nullptr;
    size_t info_bytes = 0, error_bytes = 0;
    void **info_size = nullptr, **error_size = nullptr;
};

namespace {

constexpr uint32_t fat_magic = 0xBA55ED50;

struct FatHeader {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};

size_t end_of_elf(const char *image)
{
    Elf64_Ehdr head;
    memcpy(&head, image, sizeof head);
    size_t end = head.e_shoff + size_t(head.e_shnum) * head.e_shentsize;
    return std::max(end, head.e_phoff + size_t(head.e_phnum) * head.e_phentsize);
}

// An image has no size: it is in its header, or the image is text.
size_t size_of_image(const char *&image)
{
    uint32_t magic = 0;
    memcpy(&magic, image, sizeof magic);
    if (magic == FATBINC_MAGIC) {
        image = reinterpret_cast<const char *>(
            reinterpret_cast<const __fatBinC_Wrapper_t *>(image)->data);
        memcpy(&magic, image, sizeof magic);
    }
    if (magic == fat_magic) {
        FatHeader header;
        memcpy(&header, image, sizeof header);
        return header.header_bytes + header.bytes;
    }
    return memcmp(image, ELFMAG, SELFMAG) ? strlen(image) + 1 : end_of_elf(image);
}

int file_of(const void *data, size_t bytes)
{
    int file = memfd_create("cuda-image", MFD_CLOEXEC);
    const char *from = static_cast<const char *>(data);
    for (size_t done = 0; file >= 0 && done < bytes;) {
        ssize_t wrote = write(file, from + done, bytes - done);
        if (wrote <= 0)
            break;
        done += static_cast<size_t>(wrote);
    }
    return file;
}

int file_of_image(const void *image)
{
    const char *data = static_cast<const char *>(image);
    size_t bytes = size_of_image(data);
    return file_of(data, bytes);
}

std::string contents_of(int file)
{
    off_t size = lseek(file, 0, SEEK_END);
    std::string text(static_cast<size_t>(std::max<off_t>(size, 0)), 0);
    ssize_t got = pread(file, text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

// --- options of the compilation of PTX ----------------------------------------------------------

JitOptions read_options(unsigned count, CUjit_option *names, void **values)
{
    JitOptions options;
    for (unsigned i = 0; names && values && i < count; ++i) {
        auto number = reinterpret_cast<size_t>(values[i]);
        switch (names[i]) {
        case CU_JIT_MAX_REGISTERS:
            options.lines += "max_registers=" + std::to_string(static_cast<unsigned>(number)) +
                             "\n";
            break;
        case CU_JIT_OPTIMIZATION_LEVEL:
            options.lines += "level=" + std::to_string(static_cast<unsigned>(number)) + "\n";
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            options.info = static_cast<char *>(values[i]);
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            options.info_bytes = static_cast<unsigned>(number);
            options.info_size = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            options.error = static_cast<char *>(values[i]);
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            options.error_bytes = static_cast<unsigned>(number);
            options.error_size = &values[i];
            break;
        default: // debug information, caching and the target have no effect
            break;
        }
    }
    return options;
}

void write_log(char *buffer, size_t bytes, void **size, const std::string &log)
{
    size_t wrote = bytes ? std::min(bytes - 1, log.size()) : 0;
    if (buffer && bytes) {
        memcpy(buffer, log.data(), wrote);
        buffer[wrote] = 0;
    }
    if (size) // the option returns the length
        *size = reinterpret_cast<void *>(wrote);
}

void write_logs(const JitOptions &options, const std::string &log, CUresult status)
{
    write_log(options.info, options.info_bytes, options.info_size, status ? "" : log);
    write_log(options.error, options.error_bytes, options.error_size, status ? log : "");
}

// --- modules ------------------------------------------------------------------------------------

void read_kernel(std::istringstream &line, CUmodule module)
{
    CUfunction function = make<CUfunc_st>(module);
    std::string parameters;
    line >> function->index >> function->name >> function->registers >> function->static_shared >>
        function->local_bytes >> function->constant_bytes >> function->max_threads >>
        function->cluster[0] >> function->cluster[1] >> function->cluster[2] >> parameters;
    std::istringstream each(parameters);
    char separator;
    unsigned at, bytes;
    while (each >> at >> separator >> bytes) {
        function->parameters.emplace_back(at, bytes);
        each >> separator;
    }
    function->max_dynamic_shared = attribute("MAX_SHARED_MEMORY_PER_BLOCK") -
                                   function->static_shared;
    module->functions.push_back(function);
}

void read_variable(std::istringstream &line, CUmodule module)
{
    std::string name, kind;
    Variable variable = {};
    line >> name >> variable.address >> variable.bytes >> kind;
    variable.managed = kind == "managed";
    module->variables[name] = variable;
    Allocation memory = {variable.address, variable.bytes,
                         variable.managed ? Kind::managed : Kind::device, module->context,
                         module->context->device};
    memory.of_module = true;
    if (variable.managed)
        allow_host(variable.address, variable.bytes, true);
    state().allocations[variable.address] = memory;
}

std::string read_answer(const std::string &text, CUmodule module)
{
    std::string log, word, rest;
    std::istringstream lines(text);
    for (std::string each; std::getline(lines, each);) {
        std::istringstream line(each);
        line >> word;
        if (word == "kernel")
            read_kernel(line, module);
        else if (word == "variable")
            read_variable(line, module);
        else if (word == "log")
            log += each.substr(4) + "\n";
    }
    return log;
}

void forget(CUmodule module)
{
    for (CUfunction function : module->functions)
        destroy(function);
    for (auto &[name, variable] : module->variables)
        state().allocations.erase(variable.address);
    send(wire::Unload{module->number});
    destroy(module);
}

CUresult find_global(CUmodule module, const char *name, bool managed, CUdeviceptr *address,
                     size_t *bytes)
{
    auto found = module->variables.find(name);
    REQUIRE(found != module->variables.end() && (!managed || found->second.managed),
            CUDA_ERROR_NOT_FOUND);
    offer(address, found->second.address);
    offer(bytes, found->second.bytes);
    return CUDA_SUCCESS;
}

CUresult load_image(Call &call, CUmodule *module, int file, const JitOptions &options)
{
    std::string log;
    REQUIRE(file >= 0, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult status = load_module(call.context, file, options.lines, &log, module);
    close(file);
    write_logs(options, log, status);
    return status;
}

// The module of a library in a context. Without a context, that of the first device.
CUresult module_of(CUlibrary library, CUcontext context, CUmodule *module)
{
    REQUIRE(context && is_live(context), CUDA_ERROR_INVALID_CONTEXT);
    CUmodule &known = library->modules[context->id];
    std::string log;
    if (!known)
        TRY(load_module(context, library->file, library->options, &log, &known));
    *module = known;
    return CUDA_SUCCESS;
}

CUfunction find_function(CUmodule module, const std::string &name)
{
    for (CUfunction function : module->functions)
        if (function->name == name)
            return function;
    return nullptr;
}

CUresult kernel_of(CUlibrary library, const std::string &name, CUkernel *kernel)
{
    CUkernel &known = library->kernels[name];
    if (!known)
        known = make<CUkern_st>(library, name);
    *kernel = known;
    return CUDA_SUCCESS;
}

CUresult open_image(const char *path, int *file)
{
    REQUIRE(path, bad_value);
    *file = open(path, O_RDONLY | O_CLOEXEC);
    REQUIRE(*file >= 0, CUDA_ERROR_FILE_NOT_FOUND);
    std::string text = contents_of(*file); // text needs a zero at the end
    close(*file);
    *file = file_of(text.c_str(), text.compare(0, SELFMAG, ELFMAG) ? text.size() + 1 : text.size());
    return CUDA_SUCCESS;
}

} // namespace

CUresult load_module(CUcontext context, int file, const std::string &options, std::string *log,
                     CUmodule *module)
{
    Answer<wire::LoadAnswer> answer;
    wire::Load message = {context->device_number()};
    REQUIRE(ask(message, &answer, options, {file}), CUDA_ERROR_UNKNOWN);
    std::string text = answer.file < 0 ? answer.text : contents_of(answer.file);
    if (answer.file >= 0)
        close(answer.file);
    CUmodule made = make<CUmod_st>(context, answer.record.module);
    *log = read_answer(text, made);
    if (answer.record.status) {
        destroy(made);
        return static_cast<CUresult>(answer.record.status);
    }
    *module = made;
    return CUDA_SUCCESS;
}

void unload_modules(CUcontext context)
{
    std::vector<CUmodule> own;
    for (const CUmod_st *module : handles<CUmod_st>())
        if (module->context == context)
            own.push_back(const_cast<CUmodule>(module));
    for (CUmodule module : own)
        forget(module);
    for (const CUlib_st *library : handles<CUlib_st>())
        const_cast<CUlibrary>(library)->modules.erase(context->id);
}

CUresult function_of(CUkernel kernel, CUcontext context, CUfunction *function)
{
    REQUIRE(is_live(kernel), bad_handle);
    CUmodule module = nullptr;
    TRY(module_of(kernel->library, context, &module));
    *function = find_function(module, kernel->name);
    REQUIRE(*function, CUDA_ERROR_NOT_FOUND);
    (*function)->kernel = kernel;
    return CUDA_SUCCESS;
}

CUresult check_argument(CUfunction &function)
{
    if (is_live(function))
        return CUDA_SUCCESS;
    return function_of(reinterpret_cast<CUkernel>(function), current_context(), &function);
}

API cuModuleLoad(CUmodule *module, const char *path)
{
    ENTER(safe);
    int file = -1;
    REQUIRE(module, bad_value);
    TRY(open_image(path, &file));
    return load_image(call, module, file, {});
}

API cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module)
{
    ENTER(healthy);
    REQUIRE(functions && is_live(module), bad_value);
    for (unsigned i = 0; i < count && i < module->functions.size(); ++i)
        functions[i] = module->functions[i];
    return CUDA_SUCCESS;
}

// --- libraries ----------------------------------------------------------------------------------

static CUresult make_library(Call &call, CUlibrary *library, int file, const JitOptions &options)
{
    std::string log;
    CUmodule module = nullptr;
    CUlibrary made = make<CUlib_st>(file, options.lines);
    CUresult status = CUDA_SUCCESS;
    if (call.context) { // errors of the image appear here
        status = load_module(call.context, file, options.lines, &log, &module);
        write_logs(options, log, status);
    }
    if (status) {
        close(file);
        destroy(made);
        return status;
    }
    if (module)
        made->modules[call.context->id] = module;
    *library = made;
    return CUDA_SUCCESS;
}

API cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *names, void **values,
                          unsigned count, CUlibraryOption *, void **, unsigned)
{
    ENTER(library);
    int file = -1;
    REQUIRE(library, bad_value);
    TRY(open_image(path, &file));
    return make_library(call, library, file, read_options(count, names, values));
}

API cuLibraryUnload(CUlibrary library)
{
    ENTER(library);
    REQUIRE(is_live(library), bad_handle);
    for (auto &[id, module] : library->modules)
        if (is_live(module)) {
            finish_all();
            settle(module->context);
            forget(module);
        }
    for (auto &[name, kernel] : library->kernels)
        destroy(kernel);
    close(library->file);
    destroy(library);
    return CUDA_SUCCESS;
}

API cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    ENTER(context);
    REQUIRE(kernel && name, bad_value);
    REQUIRE(is_live(library), bad_handle);
    CUmodule module = nullptr;
    TRY(module_of(library, call.context, &module));
    REQUIRE(find_function(module, name), CUDA_ERROR_NOT_FOUND);
    return kernel_of(library, name, kernel);
}

API cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary library)
{
    ENTER(context);
    REQUIRE(kernels, bad_value);
    REQUIRE(is_live(library), bad_handle);
    CUmodule module = nullptr;
    TRY(module_of(library, call.context, &module));
    for (unsigned i = 0; i < count && i < module->functions.size(); ++i)
        TRY(kernel_of(library, module->functions[i]->name, &kernels[i]));
    return CUDA_SUCCESS;
}

static CUresult library_global(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                               const char *name, bool managed)
{
    ENTER(healthy);
    REQUIRE(name && (address || bytes), bad_value);
    REQUIRE(is_live(library), bad_handle);
    CUmodule module = nullptr;
    TRY(module_of(library, call.context, &module));
    return find_global(module, name, managed, address, bytes);
}

// --- attributes of kernels ----------------------------------------------------------------------

namespace {

int architecture()
{
    return 10 * attribute("COMPUTE_CAPABILITY_MAJOR") + attribute("COMPUTE_CAPABILITY_MINOR");
}

CUresult get_attribute(CUfunction function, CUfunction_attribute name, int *value)
{
    const CUfunc_st &f = *function;
    bool clustered = f.cluster[0] > 0;
    const struct {
        CUfunction_attribute name;
        int value;
    } rows[] = {
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f.max_threads},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f.static_shared},
        {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, f.constant_bytes},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f.local_bytes},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, f.registers},
        {CU_FUNC_ATTRIBUTE_PTX_VERSION, architecture()},
        {CU_FUNC_ATTRIBUTE_BINARY_VERSION, architecture()},
        {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, 0},
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f.max_dynamic_shared},
        {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, f.carveout},
        {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, clustered},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, f.cluster[0]},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, f.cluster[1]},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, f.cluster[2]},
        {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, f.non_portable},
        {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, f.policy},
    };
    for (auto &row : rows)
        if (row.name == name) {
            *value = row.value;
            return CUDA_SUCCESS;
        }
    return bad_value;
}

CUresult set_attribute(CUfunction function, CUfunction_attribute name, int value)
{
    int limit = attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN") - function->static_shared;
    switch (name) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        REQUIRE(value >= 0 && value <= limit, bad_value);
        function->max_dynamic_shared = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        REQUIRE(value >= -1 && value <= 100, bad_value);
        function->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        function->non_portable = value != 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        function->policy = value;
        return CUDA_SUCCESS;
    default:
        return bad_value;
    }
}

} // namespace

API cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    ENTER(healthy);
    CHECK(function);
    REQUIRE(offset && index < function->parameters.size(), bad_value);
    *offset = function->parameters[index].first;
    offer(bytes, function->parameters[index].second);
    return CUDA_SUCCESS;
}

// --- links --------------------------------------------------------------------------------------

struct CUlinkState_st {
    JitOptions options;
    std::vector<int> files = {};
    std::string cubin = {};
};

API cuLinkAddData(CUlinkState link, CUjitInputType type, void *data, size_t bytes, const char *,
                  unsigned, CUjit_option *, void **)
{
    ENTER(healthy);
    REQUIRE(is_live(link), bad_handle);
    REQUIRE(data && bytes && link->files.size() < wire::MAX_DESCRIPTORS, bad_value);
    std::string image(static_cast<char *>(data), bytes);
    if (type == CU_JIT_INPUT_PTX && image.back())
        image.push_back(0);
    link->files.push_back(file_of(image.data(), image.size()));
    return CUDA_SUCCESS;
}

API cuLinkAddFile(CUlinkState link, CUjitInputType, const char *path, unsigned, CUjit_option *,
                  void **)
{
    ENTER(healthy);
    int file = -1;
    REQUIRE(is_live(link), bad_handle);
    REQUIRE(link->files.size() < wire::MAX_DESCRIPTORS, bad_value);
    TRY(open_image(path, &file));
    link->files.push_back(file);
    return CUDA_SUCCESS;
}

API cuLinkComplete(CUlinkState link, void **cubin, size_t *bytes)
{
    ENTER(healthy);
    REQUIRE(is_live(link), bad_handle);
    REQUIRE(cubin && !link->files.empty(), bad_value);
    Answer<wire::LinkAnswer> answer;
    wire::Link message = {static_cast<uint32_t>(link->files.size())};
    REQUIRE(ask(message, &answer, link->options.lines, link->files), CUDA_ERROR_UNKNOWN);
    auto status = static_cast<CUresult>(answer.record.status);
    write_logs(link->options, answer.text, status);
    TRY(status);
    link->cubin = contents_of(answer.file);
    close(answer.file);
    *cubin = link->cubin.data();
    offer(bytes, link->cubin.size());
    return CUDA_SUCCESS;
}

API cuLinkDestroy(CUlinkState link)
{
    ENTER(healthy);
    REQUIRE(is_live(link), bad_handle);
    for (int file : link->files)
        close(file);
    destroy(link);
    return CUDA_SUCCESS;
}
