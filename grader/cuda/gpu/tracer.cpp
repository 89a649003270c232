// Records the kernels, copies and fills of a program with CUPTI. The CUDA driver loads this library
// by CUDA_INJECTION64_PATH and calls InitializeInjection(). At the end of the program, the file
// GRADER_TRACE gets a line per activity; trace.py reads it.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cupti.h>

#if CUPTI_API_VERSION >= 130000
using Kernel = CUpti_ActivityKernel10;
using Copy = CUpti_ActivityMemcpy6;
using PeerCopy = CUpti_ActivityMemcpyPtoP4;
using Fill = CUpti_ActivityMemset4;
#else
using Kernel = CUpti_ActivityKernel9;
using Copy = CUpti_ActivityMemcpy5;
using PeerCopy = CUpti_ActivityMemcpyPtoP4;
using Fill = CUpti_ActivityMemset4;
#endif

namespace {

constexpr size_t BUFFER_BYTES = 1 << 20, ALIGNMENT = 8;
FILE *trace;

void give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
    *size = BUFFER_BYTES;
    *buffer = static_cast<uint8_t *>(aligned_alloc(ALIGNMENT, BUFFER_BYTES));
    *most_records = 0;
}

void write_times(const char *kind, uint64_t start, uint64_t end, uint32_t device, uint32_t stream,
                 uint32_t order)
{
    fprintf(trace, "%s\t%" PRIu64 "\t%" PRIu64 "\t%u\t%u\t%u\t", kind, start, end, device, stream,
            order);
}

void write_record(const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        auto *each = reinterpret_cast<const Kernel *>(record);
        write_times("kernel", each->start, each->end, each->deviceId, each->streamId,
                    each->correlationId);
        fprintf(trace, "%d %d %d\t%d %d %d\t%u\t%d\t%d\t%u\t%s\n", each->gridX, each->gridY,
                each->gridZ, each->blockX, each->blockY, each->blockZ, each->registersPerThread,
                each->staticSharedMemory, each->dynamicSharedMemory, each->localMemoryPerThread,
                each->name);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
        auto *each = reinterpret_cast<const Copy *>(record);
        write_times("copy", each->start, each->end, each->deviceId, each->streamId,
                    each->correlationId);
        fprintf(trace, "%" PRIu64 "\t%d\n", each->bytes, each->copyKind);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
        auto *each = reinterpret_cast<const PeerCopy *>(record);
        write_times("copy", each->start, each->end, each->deviceId, each->streamId,
                    each->correlationId);
        fprintf(trace, "%" PRIu64 "\t%d\n", each->bytes, each->copyKind);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        auto *each = reinterpret_cast<const Fill *>(record);
        write_times("set", each->start, each->end, each->deviceId, each->streamId,
                    each->correlationId);
        fprintf(trace, "%" PRIu64 "\t0\n", each->bytes);
        break;
    }
    default:
        break;
    }
}

void take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid_bytes)
{
    CUpti_Activity *record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
        write_record(record);
    free(buffer);
}

void finish()
{
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    fputs("end\n", trace);
    fclose(trace);
}

} // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection()
{
    const char *path = getenv("GRADER_TRACE");
    trace = path ? fopen(path, "wx") : nullptr;
    if (!trace)
        return 0;
    cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
    constexpr CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};
    for (CUpti_ActivityKind kind : kinds)
        if (CUptiResult failed = cuptiActivityEnable(kind))
            fprintf(trace, "error\t%d\n", failed);
    atexit(finish);
    return 1;
}
