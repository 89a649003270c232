// Streams and events: creation, queries, times.
#include "driver/driver.h"

namespace {

constexpr unsigned event_flags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING |
                                 CU_EVENT_INTERPROCESS;

} // namespace

void name_stream(CUstream stream)
{
    uint32_t flags = stream->flags & CU_STREAM_NON_BLOCKING ? wire::ObjectFlag::NON_BLOCKING : 0u;
    send(wire::NameObject{stream->number, wire::Sort::STREAM, flags});
}

// --- streams ------------------------------------------------------------------------------------

API cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    ENTER(healthy);
    REQUIRE(stream && flags <= CU_STREAM_NON_BLOCKING, bad_value);
    *stream = make<CUstream_st>(call.context, state().numbers++, flags,
                                std::max(-5, std::min(priority, 0)));
    if (flags)
        name_stream(*stream);
    start_deferring();
    return CUDA_SUCCESS;
}

// --- events -------------------------------------------------------------------------------------

API cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    ENTER(healthy);
    REQUIRE(milliseconds, bad_value);
    for (CUevent event : {start, end})
        REQUIRE(is_live(event) && event->recorded && !(event->flags & CU_EVENT_DISABLE_TIMING),
                bad_handle);
    for (CUevent event : {start, end})
        TRY(query(event->context, wire::Sort::EVENT, event->number));
    Answer<wire::ElapsedAnswer> answer;
    REQUIRE(ask(wire::Elapsed{start->number, end->number}, &answer), CUDA_ERROR_UNKNOWN);
    *milliseconds = answer.record.milliseconds;
    return static_cast<CUresult>(answer.record.status);
}
