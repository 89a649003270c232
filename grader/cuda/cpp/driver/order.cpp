// Operations in the order of the calls: synchronisation with the session, errors of earlier work,
// streams' operations and the guards of all functions.
#include "driver/driver.h"

#include <cstdio>

namespace {

// The thread's contexts. It has no destructor: static objects of the program use it after main.
constexpr size_t most_contexts = 256;
thread_local struct {
    CUcontext contexts[most_contexts];
    size_t depth;
} stack;

// Errors of execution: the context is unusable afterwards.
bool is_sticky(uint32_t status)
{
    switch (status) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
        return true;
    default:
        return false;
    }
}

void keep_error(CUcontext context, uint32_t status)
{
    if (is_sticky(status)) {
        context->pending = static_cast<CUresult>(status);
        state().devices[context->device].dead = true;
    } else if (status) {
        context->pending_once = static_cast<CUresult>(status);
    }
}

// The errors of earlier work, which the present call returns.
CUresult take_error(CUcontext context)
{
    context->sticky = context->pending;
    CUresult once = context->pending_once;
    context->pending_once = CUDA_SUCCESS;
    return context->sticky ? context->sticky : once;
}

CUresult wait_for_session(CUcontext context, uint32_t sort, uint64_t number)
{
    State &s = state();
    wire::Synchronize message = {sort, context->device_number(), number};
    Answer<wire::SynchronizeAnswer> answer;
    do {
        if (!ask(message, &answer))
            return CUDA_ERROR_UNKNOWN;
        s.printed |= answer.record.printed_bytes != 0;
        s.held += answer.text.substr(0, answer.record.printed_bytes);
        fwrite(answer.text.data() + answer.record.printed_bytes, 1, answer.record.error_bytes,
               stderr);
        keep_error(context, answer.record.status);
        message.sort = wire::Sort::NOTHING;
    } while (answer.record.more);
    s.running = false;
    return CUDA_SUCCESS;
}

void print_held()
{
    std::string text;
    text.swap(state().held);
    fwrite(text.data(), 1, text.size(), stdout);
}

} // namespace

// --- guards -------------------------------------------------------------------------------------

Call::Call(Need need) : lock(state().mutex), status(CUDA_SUCCESS)
{
    State &s = state();
    ++s.calls;
    if (!s.initialized || s.forked) {
        status = CUDA_ERROR_NOT_INITIALIZED;
        return;
    }
    if (s.lost)
        status = CUDA_ERROR_UNKNOWN;
    context = current_context();
    if (need == Need::library || status)
        return;
    if (!context)
        status = CUDA_ERROR_INVALID_CONTEXT;
    else if (!is_live(context))
        status = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    else if (need != Need::context)
        status = context->sticky;
    if (!status && need == Need::safe && forbidden_by_captures())
        status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUcontext current_context() { return stack.depth ? stack.contexts[stack.depth - 1] : nullptr; }

API cuCtxSetCurrent(CUcontext context)
{
    ENTER(library);
    REQUIRE(!context || is_live(context), CUDA_ERROR_INVALID_CONTEXT);
    stack.depth -= stack.depth > 0;
    if (context)
        stack.contexts[stack.depth++] = context;
    return CUDA_SUCCESS;
}

API cuCtxPopCurrent(CUcontext *context)
{
    ENTER(library);
    REQUIRE(stack.depth, CUDA_ERROR_INVALID_CONTEXT);
    offer(context, current_context());
    --stack.depth;
    return CUDA_SUCCESS;
}

// --- synchronisation ----------------------------------------------------------------------------

static void complete_work(uint32_t sort, uint64_t number)
{
    state().launched.clear();
    if (sort == wire::Sort::EVENT)
        complete_guards_of_event(number);
    else
        complete_guards(sort == wire::Sort::DEVICE ? 0 : number);
}

CUresult synchronize(CUcontext context, uint32_t sort, uint64_t number)
{
    State &s = state();
    count_wait();
    if (sort == wire::Sort::DEVICE)
        finish_device(context->device);
    else if (sort == wire::Sort::STREAM)
        finish_stream(context, number);
    if (s.dirty || s.running)
        TRY(wait_for_session(context, sort, number));
    if (sort == wire::Sort::DEVICE)
        s.dirty = false;
    complete_work(sort, number);
    print_held();
    return take_error(context);
}

void settle(CUcontext context)
{
    if (state().running)
        wait_for_session(context, wire::Sort::NOTHING, 0);
}

CUresult report(CUcontext context)
{
    settle(context);
    complete_work(wire::Sort::DEVICE, 0);
    print_held();
    return take_error(context);
}

CUresult finish_and_report(CUcontext context)
{
    finish_all();
    if (state().check)
        send(wire::Waited{context->device_number()});
    return report(context);
}

// The modelled clock decides, and needs the kernels' times.
CUresult query(CUcontext context, uint32_t sort, uint64_t number)
{
    if (!state().dirty && !state().running)
        return take_error(context);
    count_wait();
    finish_launches();
    Answer<wire::QueryAnswer> answer;
    if (!ask(wire::Query{sort, context->device_number(), number}, &answer))
        return CUDA_ERROR_UNKNOWN;
    keep_error(context, answer.record.status);
    if (CUresult status = take_error(context))
        return status;
    REQUIRE(answer.record.done, CUDA_ERROR_NOT_READY);
    if (sort == wire::Sort::STREAM)
        finish_stream(context, number);
    complete_work(sort, number);
    return CUDA_SUCCESS;
}

CUstream find_stream(CUstream handle, CUstream default_stream)
{
    CUcontext context = current_context();
    CUstream stream = handle ? handle : default_stream;
    if (stream == CU_STREAM_LEGACY)
        return context->legacy.get();
    if (stream == CU_STREAM_PER_THREAD) {
        CUstream &own = state().per_thread[{std::this_thread::get_id(), context->id}];
        if (!own) {
            own = new CUstream_st{context, state().numbers++};
            start_deferring();
        }
        return own;
    }
    return is_live(stream) ? stream : nullptr;
}

// --- operations ---------------------------------------------------------------------------------

namespace {

void send_event(CUstream stream, uint64_t event, bool mark)
{
    send(wire::RecordEvent{stream->number, stream->context->device_number(), event, mark});
    mark_event(event, stream->number);
}

void wait_for(CUstream stream, uint64_t event, uint64_t operation, bool mark)
{
    send(wire::WaitForEvent{stream->number, stream->context->device_number(), event, mark});
    mark_stream(stream->number, event);
    defer(stream, Deferred::with_host, [] {}, operation);
}

// Calls a function of the program in the order of a stream, without the lock. The program may wait
// for its effects without a call, so it is not deferred.
template <class Function> CUresult call_host(Call &call, CUstream stream, Function function)
{
    finish_earlier(*stream);
    send(wire::HostFunction{stream->number, stream->context->device_number()});
    settle(stream->context);
    complete_guards(stream->number); // the function follows the copies
    call.lock.unlock();
    function();
    call.lock.lock();
    return CUDA_SUCCESS;
}

bool compare(uint64_t found, const Word &word)
{
    uint64_t mask = word.bytes == 4 ? 0xffffffffu : ~uint64_t(0);
    switch (word.flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return word.bytes == 4 ? static_cast<int32_t>(found - word.value) >= 0
                               : static_cast<int64_t>(found - word.value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return (found & mask) == (word.value & mask);
    case CU_STREAM_WAIT_VALUE_AND:
        return (found & word.value) != 0;
    default:
        return (~(found | word.value) & mask) != 0;
    }
}

uint64_t read_word(const Word &word)
{
    uint64_t found = 0;
    memcpy(&found, host_view(word.address), word.bytes);
    return found;
}

struct Runner {
    Call &call;
    CUstream stream;

    CUresult operator()(const Nothing &) { return CUDA_SUCCESS; }
    CUresult operator()(const Launch &launch) { return run(stream, launch); }
    CUresult operator()(const Copy &copy) { return run(stream, copy); }
    CUresult operator()(const Fill &fill) { return run(stream, fill); }
    CUresult operator()(const GraphAllocation &each)
    {
        const CUDA_MEM_ALLOC_NODE_PARAMS &fields = each.parameters;
        return allocate_again(stream->context, fields.dptr, fields.bytesize);
    }
    CUresult operator()(const GraphFree &) { return CUDA_SUCCESS; }
    CUresult operator()(const Child &child) { return launch_graph(call, stream, child.graph); }

    CUresult operator()(const HostCall &host)
    {
        return call_host(call, stream, [&] { host.fields.fn(host.fields.userData); });
    }

    CUresult operator()(const Callback &callback)
    {
        CUresult status = stream->context->sticky;
        return call_host(call, stream,
                         [&] { callback.function(callback.stream, status, callback.data); });
    }

    CUresult operator()(const RecordEvent &record)
    {
        REQUIRE(is_live(record.event), bad_handle);
        send_event(stream, record.event->number, false);
        record.event->recorded = true;
        record.event->operation = defer(stream, Deferred::with_host, [] {});
        return CUDA_SUCCESS;
    }

    CUresult operator()(const WaitEvent &wait)
    {
        REQUIRE(is_live(wait.event), bad_handle);
        if (wait.event->recorded)
            wait_for(stream, wait.event->number, wait.event->operation, false);
        return CUDA_SUCCESS;
    }

    // A wait for a word blocks the program's thread, so all operations that may write it are
    // performed before. The program may poll a written word.
    CUresult operator()(const Word &word)
    {
        if (word.wait)
            finish_all();
        else
            finish_earlier(*stream);
        settle(stream->context);
        if (!word.wait)
            memcpy(host_view(word.address), &word.value, word.bytes);
        call.lock.unlock();
        while (word.wait && !compare(read_word(word), word))
            __builtin_ia32_pause();
        call.lock.lock();
        return CUDA_SUCCESS;
    }
};

struct Checker {
    template <class Any> CUresult operator()(const Any &) { return CUDA_SUCCESS; }
    CUresult operator()(const Launch &launch) { return check(launch); }
    CUresult operator()(const Copy &copy) { return check(copy); }
    CUresult operator()(const Fill &fill) { return check(fill); }
    CUresult operator()(const Word &word)
    {
        return find_allocation(word.address) ? CUDA_SUCCESS : bad_value;
    }
};

} // namespace

Mark set_mark(CUstream stream)
{
    Mark mark = {state().numbers++, 0};
    send_event(stream, mark.event, true);
    mark.operation = defer(stream, Deferred::with_host, [] {});
    return mark;
}

void follow(CUstream stream, Mark mark) { wait_for(stream, mark.event, mark.operation, true); }

CUresult execute(Call &call, CUstream stream, const Operation &operation)
{
    state().dirty = true;
    return std::visit(Runner{call, stream}, operation);
}

CUresult check_operation(const Operation &operation) { return std::visit(Checker{}, operation); }

CUresult submit(Call &call, CUstream stream, Operation operation)
{
    REQUIRE(stream, bad_handle);
    TRY(check_operation(operation));
    if (stream->capture)
        return record(stream, std::move(operation));
    return execute(call, stream, operation);
}
