// Children of every kind, made and run in the middle of unaligned accesses. With an argument: says what it inherited.
#define _GNU_SOURCE
#include "children.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int say_inherited(void) {
    sigset_t mask;
    struct sigaction action;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sigaction(SIGTRAP, NULL, &action);
    printf("inherited: blocked %d %d default %d\n", sigismember(&mask, SIGBUS), sigismember(&mask, SIGUSR1),
           action.sa_handler == SIG_DFL);
    return 3;
}

int main(int count, char** arguments) {
    if (count > 1)
        return say_inherited();
    char* const call[] = {arguments[0], "inherited", NULL};
    for (int blocked = 0; blocked < 2; ++blocked) {
        sigset_t all;
        sigfillset(&all);
        if (blocked)
            sigprocmask(SIG_BLOCK, &all, NULL);
        touch(50);
        pid_t child = fork();
        if (child == 0) {
            touch(500);
            _exit(5);
        }
        wait_for(child);
        child = fork();
        if (child == 0) {
            touch(50);
            execv(call[0], call);
        }
        wait_for(child);
        vfork_and_spawn(call);
        char command[4096];
        snprintf(command, sizeof command, "%s inherited", call[0]);
        printf("system %x\n", system(command));
        fflush(stdout);
        FILE* pipe = popen(command, "r");
        char line[256] = "";
        if (!fgets(line, sizeof line, pipe))
            line[0] = '\0';
        printf("popen %x %s", pclose(pipe), line);
        fflush(stdout);
        child = fork();
        if (child == 0) {
            signal(SIGTRAP, SIG_DFL);
            sigprocmask(SIG_UNBLOCK, &all, NULL);
            touch(50);
            raise(SIGTRAP);
        }
        int status;
        waitpid(child, &status, 0);
        printf("trap: signal %d\n", WTERMSIG(status));
        fflush(stdout);
    }
    execv("/nowhere", call);
    touch(500);
    execv(call[0], call);
    return 1;
}
