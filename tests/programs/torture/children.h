// For programs that start themselves again in the middle of unaligned accesses: `call` is what execv takes.
#pragma once
#include "unaligned.h"
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void wait_for(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    printf("status %x\n", status);
    fflush(stdout);
    touch(50);
}

static void vfork_and_spawn(char* const call[]) {
    pid_t child = vfork();
    if (child == 0) {
        execv(call[0], call);
        _exit(127);
    }
    wait_for(child);
    posix_spawn(&child, call[0], NULL, NULL, call, environ);
    wait_for(child);
}
