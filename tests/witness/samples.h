// Samples of a program and its descendants as an unwinder in another process gets them: registers, a copy of the lowest bytes of
// the stack, and what code was mapped where.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace plumb::witness {

struct Mapping {
    uint64_t start = 0, end = 0, file_offset = 0;
    std::string path; // "" for code without a file, "[vdso]" for the kernel's
};

// What one process had mapped as code between two execs.
struct Program {
    struct Range {
        uint64_t begin, end;
    };
    std::map<uint64_t, Mapping> mappings; // by start
    std::vector<Range> replaced;          // what another file was mapped to before
    const Mapping* at(uint64_t address) const;
    void map(Mapping mapping); // in place of what was there
};

constexpr size_t kRegisters = 17, kBpRegister = 6, kSpRegister = 7, kPcRegister = 16; // numbers of DWARF on x86-64

struct Sample {
    size_t program = 0; // place in Samples::programs
    std::array<uint64_t, kRegisters> registers{};
    std::vector<char> stack; // from the stack pointer on

    uint64_t pc() const { return registers[kPcRegister]; }
    uint64_t sp() const { return registers[kSpRegister]; }
    uint64_t bp() const { return registers[kBpRegister]; }
    bool word(uint64_t address, uint64_t& value) const; // false: not in the copy
};

struct Samples {
    std::deque<Program> programs;
    std::vector<Sample> all;
    std::string error; // not empty: why there are none
};

struct SamplingPlan {
    uint64_t rate_hz = 4000;
    size_t most_samples = 1500;
    double most_seconds = 4; // then the program is ended: mostly it has enough samples before, unless the machine is busy
    uint32_t stack_bytes = 16384;
};

// Runs a command, its output going nowhere, and samples it in user mode.
Samples sample_program(char* const* command, const SamplingPlan& plan);

} // namespace plumb::witness
