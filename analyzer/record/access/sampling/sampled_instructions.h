// The instructions at which time samples of a program stand: how often, when, and the code around those sampled often.
#pragma once

#include "record/access/sampling/access_sampling.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

namespace plumb::record {

// `More`: what else is kept of each instruction.
template <class More> class SampledInstructions {
  public:
    struct Instruction : More {
        uint64_t samples = 0, time_ns = 0, first_ns = 0, last_ns = 0;
        uint64_t generation = 0; // of the process: which of the programs that it executed
        std::shared_ptr<const LoopCode> code; // around it; null: not known
    };
    using OfProgram = std::unordered_map<uint64_t, Instruction>; // by address
    using Judge = std::function<void(uint32_t pid, const OfProgram&)>;

    // `enough`: samples of an instruction before its code is looked at. `judge` is called once for each program, at its end.
    SampledInstructions(AccessSampling& code, ProcessTable& processes, uint64_t enough, Judge judge)
        : code_(code), processes_(processes), enough_(enough), judge_(std::move(judge)) {}

    SampledInstructions(const SampledInstructions&) = delete; // `judge` may point to its owner

    // Null: taken in the kernel, of an unknown process, or of one with too many instructions.
    Instruction* take(const PerfRecord& sample, uint64_t weight_ns) {
        const Process* process = sample.in_kernel ? nullptr : processes_.find(sample.pid);
        if (!process)
            return nullptr;
        total_ns_ += weight_ns;
        Program& program = programs_[sample.pid];
        if (program.generation != process->generation) {
            judge_(sample.pid, program.instructions);
            program = {process->generation, 0, {}};
        }
        if (program.instructions.size() >= kMost && !program.instructions.contains(sample.address))
            return nullptr;
        Instruction& instruction = program.instructions[sample.address];
        if (instruction.samples++ == 0)
            instruction.first_ns = sample.time_ns;
        instruction.last_ns = sample.time_ns;
        instruction.time_ns += weight_ns;
        instruction.generation = program.generation;
        if (!instruction.code && instruction.samples >= enough_ && program.looked_at < kMostLookedAt) {
            instruction.code = code_.loop_code_at(sample); // null: no time for it now
            program.looked_at += instruction.code != nullptr;
        }
        return &instruction;
    }

    void forget(uint32_t pid) { // it ended
        if (const auto known = programs_.extract(pid))
            judge_(pid, known.mapped().instructions);
    }
    void forget_all() {
        while (!programs_.empty())
            forget(programs_.begin()->first);
    }
    uint64_t total_ns() const { return total_ns_; } // of all samples taken

  private:
    static constexpr size_t kMost = 1 << 12, kMostLookedAt = 256; // instructions of one program
    struct Program {
        uint64_t generation = 0;
        size_t looked_at = 0;
        OfProgram instructions;
    };
    AccessSampling& code_;
    ProcessTable& processes_;
    const uint64_t enough_;
    Judge judge_;
    std::unordered_map<uint32_t, Program> programs_; // by pid
    uint64_t total_ns_ = 0;
};

} // namespace plumb::record
