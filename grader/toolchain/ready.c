/* Preloaded into a tool. Where the tool opens the file INPUT for the OPENING-th time, it stops, and
   forks for each request, the path of a folder: a child goes to this folder, opens INPUT there, and
   goes on. Its wait status is written to the folder's `status`. The tool ends with its client. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

typedef FILE *(*Open)(const char *, const char *);

static void redirect(int descriptor, const char *path) {
    if (dup2(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), descriptor) < 0)
        _exit(1);
}

/* Returns in the child that does the work. What is left of its process group is killed, and all of
   it ends with the tool. */
static void answer(const char *folder) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (chdir(folder) != 0 || setpgid(0, 0) != 0)
        _exit(1);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        redirect(1, "stdout");
        redirect(2, "stderr");
        return;
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (write(open("status", O_WRONLY), &status, sizeof status) != sizeof status)
        _exit(1);
    kill(0, SIGKILL);
}

/* Returns in a child of each request only. */
static void serve(void) {
    /* without blocking: the client may have ended */
    const int requests = open("requests", O_RDONLY | O_NONBLOCK);
    char folder[PATH_MAX];
    fcntl(requests, F_SETFL, 0);
    while (read(requests, folder, sizeof folder) == sizeof folder) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ; /* of earlier requests */
        if (fork() == 0) {
            close(requests);
            answer(folder);
            return;
        }
    }
    /* a client that was killed leaves its files */
    if (chdir("..") == 0 && getcwd(folder, sizeof folder) != NULL &&
        strncmp(basename(folder), HOME, sizeof HOME - 1) == 0)
        execlp("rm", "rm", "-rf", "--", folder, (char *)NULL);
    _exit(0);
}

static FILE *open_as(const char *symbol, const char *path, const char *mode) {
    static int opened;
    const char *name = strrchr(path, '/');
    Open open_file;
    *(void **)&open_file = dlsym(RTLD_NEXT, symbol);
    if (strcmp(name == NULL ? path : name + 1, INPUT) == 0 && ++opened == OPENING) {
        serve();
        path = INPUT;
    }
    return open_file(path, mode);
}

FILE *fopen(const char *path, const char *mode) { return open_as("fopen", path, mode); }

FILE *fopen64(const char *path, const char *mode) { return open_as("fopen64", path, mode); }
