// Starts children in every way that shares memory or replaces the image. Without arguments it is the parent.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void expect(const char* what, pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    printf("%s: %d\n", what, WEXITSTATUS(status));
    fflush(stdout);
}

int main(int count, char** arguments) {
    if (count > 1) {
        printf("child %s\n", arguments[1]);
        return atoi(arguments[1]);
    }
    char self[4096];
    self[readlink("/proc/self/exe", self, sizeof self - 1)] = '\0';
    char command[5000];

    pid_t child = vfork();
    if (child == 0) {
        execl(self, self, "21", (char*)NULL);
        _exit(99);
    }
    expect("vfork and exec", child);
    child = vfork();
    if (child == 0) {
        execl("/nonexistent/program", "program", (char*)NULL);
        _exit(errno == ENOENT ? 22 : 99);
    }
    expect("vfork and failed exec", child);

    char* spawned[] = {self, "23", NULL};
    if (posix_spawn(&child, self, NULL, NULL, spawned, environ) == 0)
        expect("posix_spawn", child);
    char* searched[] = {"true", NULL};
    if (posix_spawnp(&child, "true", NULL, NULL, searched, environ) == 0)
        expect("posix_spawnp", child);
    printf("posix_spawn of nothing: %d\n", posix_spawn(&child, "/nonexistent", NULL, NULL, spawned, environ));
    fflush(stdout);

    snprintf(command, sizeof command, "'%s' 24", self);
    const int status = system(command);
    printf("system: %d\n", WEXITSTATUS(status));
    snprintf(command, sizeof command, "'%s' 25", self);
    FILE* pipe = popen(command, "r");
    char line[100] = "";
    if (!fgets(line, sizeof line, pipe))
        return 98;
    const int closed = pclose(pipe);
    printf("popen: %s%d\n", line, WEXITSTATUS(closed));
    fflush(stdout);

    // Every member of the family fails once and then replaces the image of a forked child.
    for (int way = 0; way < 8; ++way) {
        child = fork();
        if (child == 0) {
            char number[] = {'3', (char)('0' + way), '\0'};
            char* list[] = {self, number, NULL};
            char* environment[] = {"ONLY=this", NULL};
            errno = 0;
            if (execl("/nonexistent", "nonexistent", "x", (char*)NULL) != -1 || errno != ENOENT)
                _exit(97);
            const int descriptor = open(self, O_RDONLY | O_CLOEXEC);
            switch (way) {
            case 0: execl(self, self, number, (char*)NULL); break;
            case 1: execle(self, self, number, (char*)NULL, environment); break;
            case 2: execlp(self, self, number, (char*)NULL); break;
            case 3: execv(self, list); break;
            case 4: execve(self, list, environ); break;
            case 5: execvp(self, list); break;
            case 6: execvpe(self, list, environ); break;
            case 7: fexecve(descriptor, list, environ); break;
            }
            _exit(96);
        }
        expect("exec", child);
    }
    execv("/nonexistent", arguments);
    printf("still here: %s\n", strerror(errno));
    return 0;
}
