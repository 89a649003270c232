// Host code that attacks the grader: the first argument selects the attack. An attack that is
// refused prints "refused"; with "done" it has succeeded.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <string>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

static void report(bool done)
{
    puts(done ? "done" : "refused");
}

static int open_read(const char *path)
{
    return open(path, O_RDONLY);
}

static int session()
{
    return atoi(getenv("GRADER_CUDA_SOCKET") + 3);
}

static void endless_output()
{
    for (;;)
        puts("................................................................");
}

static void endless_threads()
{
    for (;;)
        try {
            std::thread([] { sleep(60); }).detach();
        } catch (...) {
            usleep(1000);
        }
}

static void endless_files()
{
    for (int i = 0;; ++i)
        close(open(("file" + std::to_string(i)).c_str(), O_CREAT | O_RDWR, 0600));
}

static void endless_memory()
{
    for (;;) {
        void *part = mmap(nullptr, 64 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (part != MAP_FAILED)
            memset(part, 1, 64 << 20);
    }
}

static bool connects_to(const char *path)
{
    sockaddr_un address = {AF_UNIX, {}};
    strcpy(address.sun_path, path);
    int made = socket(AF_UNIX, SOCK_STREAM, 0);
    return made >= 0 && !connect(made, (sockaddr *)&address, sizeof address);
}

static void garbage()
{
    char text[512];
    memset(text, 0x5A, sizeof text);
    int count;
    cudaGetDeviceCount(&count);
    report(write(session(), text, sizeof text) == sizeof text);
}

// The library reads the answers of this program instead of the server's.
static void forged_answer()
{
    int ends[2];
    if (pipe(ends))
        return;
    char zeros[4096] = {};
    write(ends[1], zeros, sizeof zeros);
    dup2(ends[0], session());
    int count = -1;
    report(!cudaGetDeviceCount(&count) && count > 0);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, nullptr, _IOLBF, 0);
    std::string attack = argv[1];
    pid_t parent = getppid();
    rlimit limit = {1, 1};
    char byte;
    iovec here = {&byte, 1}, there = {(void *)main, 1};
    io_uring_params ring = {};
    if (attack == "fork")
        report(fork() >= 0);
    else if (attack == "vfork")
        report(syscall(SYS_vfork) >= 0);
    else if (attack == "clone")
        report(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0);
    else if (attack == "shell")
        report(system("true") == 0);
    else if (attack == "setsid")
        report(setsid() >= 0);
    else if (attack == "kill parent")
        report(!kill(parent, SIGKILL));
    else if (attack == "kill all")
        report(!kill(-1, SIGKILL));
    else if (attack == "kill thread")
        report(!syscall(SYS_tgkill, parent, parent, SIGKILL));
    else if (attack == "queue signal")
        report(!sigqueue(parent, SIGKILL, {}));
    else if (attack == "network")
        report(socket(AF_INET, SOCK_STREAM, 0) >= 0);
    else if (attack == "udp")
        report(socket(AF_INET, SOCK_DGRAM, 0) >= 0);
    else if (attack == "unix socket")
        report(connects_to("/run/docker.sock"));
    else if (attack == "io_uring")
        report(syscall(SYS_io_uring_setup, 4, &ring) >= 0);
    else if (attack == "ptrace")
        report(!ptrace(PTRACE_ATTACH, parent, 0, 0));
    else if (attack == "read memory")
        report(process_vm_readv(parent, &here, 1, &there, 1, 0) >= 0);
    else if (attack == "memory file")
        report(open_read(("/proc/" + std::to_string(parent) + "/mem").c_str()) >= 0);
    else if (attack == "environment")
        report(open_read(("/proc/" + std::to_string(parent) + "/environ").c_str()) >= 0);
    else if (attack == "limit of parent")
        report(!prlimit(parent, RLIMIT_CPU, &limit, nullptr));
    else if (attack == "own limit")
        report(!(limit = {RLIM_INFINITY, RLIM_INFINITY}, setrlimit(RLIMIT_CPU, &limit)));
    else if (attack == "shared memory")
        report(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0);
    else if (attack == "read")
        report(open_read(argv[2]) >= 0);
    else if (attack == "write")
        report(open(argv[2], O_WRONLY | O_CREAT, 0600) >= 0);
    else if (attack == "change itself")
        report(open(argv[0], O_RDWR) >= 0 || !unlink(argv[0]));
    else if (attack == "link")
        report(!symlink(argv[2], "out.txt"));
    else if (attack == "private memory")
        report(malloc((size_t)5 << 30));
    else if (attack == "abort")
        abort();
    else if (attack == "endless loop")
        for (volatile int turn = 0;;)
            turn = turn + 1;
    else if (attack == "sleep")
        sleep(600);
    else if (attack == "output")
        endless_output();
    else if (attack == "threads")
        endless_threads();
    else if (attack == "files")
        endless_files();
    else if (attack == "memory")
        endless_memory();
    else if (attack == "garbage")
        garbage();
    else if (attack == "forged answer")
        forged_answer();
    return 0;
}
