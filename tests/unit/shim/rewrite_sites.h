// Instructions in the test program's own text, each run with every register and flag chosen and looked at afterwards.
#pragma once

#include <stdint.h>

struct MachineState {
    uint64_t general[16]; // by encoding: rax rcx rdx rbx rsp rbp rsi rdi r8 to r15; rsp is given back only
    uint64_t flags;
    uint64_t vector[4][2];  // xmm0 to xmm3
    uint64_t stack[4];      // from the stack pointer upwards
    uint64_t red_zone[16];  // below it
};

extern "C" {
extern MachineState machine_before, machine_after;
extern uint64_t machine_target;
extern uint8_t rewrite_static[64]; // 16-byte aligned
void run_machine(); // not reentrant

struct RewriteSiteOfTest {
    const uint8_t* address;
    const char* text;
};
extern const RewriteSiteOfTest rewrite_sites[];
extern const RewriteSiteOfTest rewrite_sites_end[];

// Two loads of four bytes each in a row, then `ret`: (%rdi) and 8(%rdi) are added up in xmm0.
double two_neighbours(const double* values);
extern const uint8_t first_neighbour[], second_neighbour[];

// Adds *value (four unaligned bytes) `times` times.
uint64_t add_in_a_loop(const void* value, uint64_t times);
extern const uint8_t loop_load[];
}
