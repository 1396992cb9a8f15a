// Executes another program in every way there is: exec_foreign PROGRAM SCRIPT, the script with the program as its
// interpreter. The environment is LD_PRELOAD as it was found here, a PATH and one variable more.
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int count, char** arguments) {
    if (count != 3)
        return 2;
    char *program = arguments[1], *script = arguments[2];
    static char preload[8192], searched[8192];
    char* environment[4] = {"LD_OTHER=kept", "PATH=/nonexistent", NULL, NULL};
    if (getenv("LD_PRELOAD")) {
        snprintf(preload, sizeof preload, "LD_PRELOAD=%s", getenv("LD_PRELOAD"));
        environment[2] = preload;
    }
    char *const folder = dirname(strdup(program)), *const name = basename(strdup(program));
    snprintf(searched, sizeof searched, "PATH=/nonexistent:%s:/bin", folder);
    const int descriptor = open(program, O_PATH);
    const int folder_descriptor = open(folder, O_RDONLY | O_DIRECTORY);
    char* list[] = {name, NULL};

    for (int way = 0; way < 12; ++way) {
        printf("way %d\n", way);
        fflush(stdout);
        const pid_t child = way == 11 ? vfork() : fork();
        if (child == 0) {
            if (way != 11) {
                putenv(searched);
                if (way == 2 || way == 5)
                    environment[1] = searched;
                if (way == 1 || way == 2 || way == 4 || way == 5) // these pass on what this process has
                    environ = environment;
            }
            switch (way) {
            case 0: execve(program, list, environment); break;
            case 1: execv(program, list); break;
            case 2: execvp(name, list); break;
            case 3: execvpe(name, list, environment); break;
            case 4: execl(program, name, (char*)NULL); break;
            case 5: execlp(name, name, (char*)NULL); break;
            case 6: execle(program, name, (char*)NULL, environment); break;
            case 7: fexecve(descriptor, list, environment); break;
            case 8: execveat(folder_descriptor, name, list, environment, 0); break;
            case 9: execveat(descriptor, "", list, environment, AT_EMPTY_PATH); break;
            case 10: execve(script, list, environment); break;
            case 11: execve(program, list, environment); break;
            }
            _exit(99);
        }
        printf("status %d\n", wait_for(child));
        fflush(stdout);
    }
    for (int searching = 0; searching < 2; ++searching) {
        pid_t child = -1;
        printf("spawn %d\n", searching);
        fflush(stdout);
        if (searching) {
            putenv(searched);
            posix_spawnp(&child, name, NULL, NULL, list, environment);
        } else {
            posix_spawn(&child, program, NULL, NULL, list, environment);
        }
        printf("status %d\n", wait_for(child));
        fflush(stdout);
    }
    return 0;
}
