// SIGBUS and SIGTRAP are ignored: by this program in the midst of unaligned accesses, and by what it starts. With an
// argument: says what it inherited.
#define _GNU_SOURCE
#include "children.h"
#include <signal.h>
#include <stdlib.h>

static int say_inherited(void) {
    struct sigaction bus, trap;
    sigaction(SIGBUS, NULL, &bus);
    sigaction(SIGTRAP, NULL, &trap);
    printf("inherited: ignored %d %d\n", bus.sa_handler == SIG_IGN, trap.sa_handler == SIG_IGN);
    fflush(stdout);
    touch(100);
    raise(SIGBUS); // ends it, unless it is ignored
    return 3;
}

int main(int count, char** arguments) {
    if (count > 1)
        return say_inherited();
    char* const call[] = {arguments[0], "inherited", NULL};
    char command[4096];
    snprintf(command, sizeof command, "%s inherited", call[0]);
    for (int round = 0; round < 3; ++round) {
        signal(SIGBUS, round < 2 ? SIG_IGN : SIG_DFL);
        signal(SIGTRAP, round == 1 ? SIG_IGN : SIG_DFL);
        touch(500);
        pid_t child = fork();
        if (child == 0)
            execv(call[0], call);
        wait_for(child);
        vfork_and_spawn(call);
        printf("system %x\n", system(command));
        fflush(stdout);
        touch(500);
    }
    signal(SIGBUS, SIG_IGN);
    execv("/nowhere", call);
    touch(500);
    raise(SIGBUS);
    execv(call[0], call);
    return 1;
}
