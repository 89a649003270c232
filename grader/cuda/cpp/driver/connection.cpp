// The connection to the server of the emulated device, and the window of memory that it shares.
#include "driver/driver.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr size_t most_text = wire::MAX_MESSAGE_BYTES;

struct Descriptors {
    alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int) * wire::MAX_DESCRIPTORS)];
};

CUresult complain(const char *text)
{
    fprintf(stderr, "grader: %s\n", text);
    return CUDA_ERROR_OPERATING_SYSTEM;
}

// A path, or `fd:N` for a connected socket that this process inherits.
int connect_to(const char *path)
{
    if (!strncmp(path, "fd:", 3)) {
        int inherited = atoi(path + 3);
        return fcntl(inherited, F_SETFD, FD_CLOEXEC) ? -1 : inherited;
    }
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address.sun_path)
        return -1;
    strcpy(address.sun_path, path);
    int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (made >= 0 && connect(made, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0)
        return made;
    close(made);
    return -1;
}

// In the process of the server: only functions that are safe after a fork of threads.
[[noreturn]] void become_server(int socket)
{
    char number[16];
    snprintf(number, sizeof number, "%d", socket);
    fcntl(socket, F_SETFD, 0);
    setsid(); // a Ctrl+C is for the program
    execl(PYTHON, PYTHON, "-P", "-m", "grader.cuda.server", "--socket-fd", number, nullptr);
    _exit(127);
}

// A server for this process alone. It is a grandchild: the program's wait() does not see it.
int start_server()
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -1;
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0)
            become_server(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    waitpid(child, nullptr, 0);
    return ends[0];
}

// Maps the window twice: where the host may use it, and at the device addresses, where the host's
// accesses fail.
CUresult map_window()
{
    State &s = state();
    constexpr int flags = MAP_SHARED | MAP_NORESERVE;
    void *view = mmap(nullptr, s.window_bytes, PROT_READ | PROT_WRITE, flags, s.window_file, 0);
    if (view == MAP_FAILED)
        return complain("the memory of the device cannot be mapped");
    s.view = static_cast<char *>(view);
    void *place = reinterpret_cast<void *>(s.window);
    if (mmap(place, s.window_bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, s.window_file, 0) !=
        place)
        return complain("the addresses of device memory are in use: start the program with "
                        "`setarch -R`");
    s.top = s.window + wire::CLIENT_OFFSET; // the session's own part lies before
    return CUDA_SUCCESS;
}

void read_properties(const std::string &text)
{
    Device &device = state().device;
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
        end = text.find('\n', at);
        size_t equals = text.find('=', at);
        std::string name = text.substr(at, equals - at),
                    value = text.substr(equals + 1, end - equals - 1);
        if (name == "NAME")
            device.name = value;
        else if (name == "TOTAL_MEMORY")
            device.total_bytes = strtoull(value.c_str(), nullptr, 10);
        else
            device.attributes[name] = atoi(value.c_str());
    }
}

CUresult greet()
{
    State &s = state();
    Answer<wire::HelloAnswer> answer;
    wire::Hello hello = {static_cast<uint32_t>(getpid()), wire::VERSION};
    if (!ask(hello, &answer) || answer.file < 0 || answer.record.status)
        return complain("the server of the emulated device does not answer");
    s.devices.resize(answer.record.devices);
    s.window = answer.record.window;
    s.window_bytes = answer.record.window_bytes;
    s.check = answer.record.check;
    s.wall_clock = answer.record.wall_clock;
    s.order_seed = answer.record.order_seed;
    s.window_file = answer.file;
    read_properties(answer.text);
    return map_window();
}

// A child has no device: as with NVIDIA's driver, CUDA works again only after exec.
void forget_in_child()
{
    State &s = state();
    if (s.socket >= 0)
        close(s.socket);
    s.socket = -1;
    s.forked = s.initialized;
    s.mutex.unlock();
}

void lose_server()
{
    State &s = state();
    if (!s.lost)
        fputs("grader: the session on the emulated device has ended\n", stderr);
    s.lost = true;
}

} // namespace

State &state()
{
    static State &instance = *new State; // used until the process ends
    return instance;
}

CUresult connect_to_server()
{
    State &s = state();
    const char *path = getenv("GRADER_CUDA_SOCKET");
    s.socket = path ? connect_to(path) : start_server();
    if (s.socket < 0)
        return complain("the server of the emulated device does not run");
    TRY(greet());
    pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); }, forget_in_child);
    find_libraries();
    watch_faults();
    s.initialized = true;
    return CUDA_SUCCESS;
}

bool send_packet(uint32_t kind, const void *record, size_t record_bytes, const void *rest,
                 size_t rest_bytes, const std::vector<int> &files)
{
    State &s = state();
    wire::Header header = {};
    header.kind = kind;
    header.bytes = static_cast<uint32_t>(record_bytes + rest_bytes);
    header.site = call_site().program;
    iovec parts[] = {{&header, sizeof header},
                     {const_cast<void *>(record), record_bytes},
                     {const_cast<void *>(rest), rest_bytes}};
    msghdr message = {};
    message.msg_iov = parts;
    message.msg_iovlen = rest_bytes ? 3 : 2;
    Descriptors control = {};
    message.msg_control = control.bytes;
    message.msg_controllen = files.empty() ? 0 : CMSG_SPACE(sizeof(int) * files.size());
    if (cmsghdr *attached = CMSG_FIRSTHDR(&message)) {
        attached->cmsg_level = SOL_SOCKET;
        attached->cmsg_type = SCM_RIGHTS;
        attached->cmsg_len = CMSG_LEN(sizeof(int) * files.size());
        memcpy(CMSG_DATA(attached), files.data(), sizeof(int) * files.size());
    }
    if (s.lost)
        return false;
    ssize_t sent = 0;
    do
        sent = sendmsg(s.socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        lose_server();
    return sent >= 0;
}

bool receive_packet(void *record, size_t bytes, std::string *text, int *file)
{
    text->resize(most_text);
    iovec parts[] = {{record, bytes}, {text->data(), text->size()}};
    Descriptors control = {};
    msghdr message = {};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    ssize_t got = 0;
    do
        got = recvmsg(state().socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < static_cast<ssize_t>(bytes)) {
        text->clear();
        lose_server();
        return false;
    }
    text->resize(static_cast<size_t>(got) - bytes);
    cmsghdr *attached = CMSG_FIRSTHDR(&message);
    if (attached && attached->cmsg_type == SCM_RIGHTS)
        memcpy(file, CMSG_DATA(attached), sizeof *file);
    return true;
}

// The last messages: after main, and after all destructors of the program.
__attribute__((destructor)) static void say_goodbye()
{
    State &s = state();
    if (!s.initialized || s.forked || s.lost)
        return;
    std::unique_lock<std::mutex> lock(s.mutex, std::try_to_lock);
    if (!lock.owns_lock() && !s.watching) // another thread still waits for the server
        return;
    if (!lock.owns_lock())
        lock.lock();
    finish_all();
    if (s.check)
        report_unsynchronized();
    for (auto &[address, memory] : s.allocations)
        report_leak(memory);
    Answer<wire::GoodbyeAnswer> answer;
    ask(wire::Goodbye{}, &answer);
    fwrite(answer.text.data() + answer.record.printed_bytes, 1, answer.record.error_bytes, stderr);
}
