// Writes the vector instructions of a loop's other forms. Needs the decoder's library.
#pragma once

#include "record/access/replay/zydis_encoder.h"

#if defined(PLUMB_CAN_REPLAY)

#include <string>
#include <utility>
#include <vector>

namespace plumb::record {

inline constexpr unsigned kXmmBytes = 16;

ZydisEncoderOperand vector_operand(unsigned number, unsigned bytes); // of up to 16 bytes an xmm register, else ymm
ZydisEncoderOperand memory_operand(unsigned bytes);                  // anywhere: replay_code() replaces the place

class FormWriter {
  public:
    // `vex`: with the encoding of AVX. The library must outlive this.
    FormWriter(const ZydisEncoder& library, bool vex) : library_(library), vex_(vex) {}

    // `name` as packed_instructions.h has it. False: there is no such instruction.
    bool append(const std::string& name, const std::vector<ZydisEncoderOperand>& operands, int access);
    void append_as_it_is(const ReplayInstruction& instruction) { made_.push_back(instruction); }

    std::vector<ReplayInstruction> take() { return std::move(made_); }

  private:
    const ZydisEncoder& library_;
    const bool vex_;
    std::vector<ReplayInstruction> made_;
};

} // namespace plumb::record

#endif
