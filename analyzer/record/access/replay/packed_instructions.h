// Instructions of x86-64 that compute with floating point numbers one at a time, by their names, and their counterparts that compute
// with several. Pure.
#pragma once

#include "record/access/replay/zydis_encoder.h"

#if defined(PLUMB_CAN_REPLAY)

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::record {

// Elements of what an instruction on single ones takes and makes; 0: it is none.
struct Elements {
    unsigned to = 0, from = 0; // bytes
    bool converts = false;
};

bool is_vector(const ZydisDecodedOperand&); // a vector register
bool has_vector(const DecodedInstruction&);
bool is_vex(const DecodedInstruction&);
unsigned number_of(ZydisRegister vector);

// "addsd", also of vaddsd. The functions below that take a name want this one.
std::string plain_name(const ZydisEncoder&, const DecodedInstruction&);
std::optional<ZydisMnemonic> mnemonic_named(const ZydisEncoder&, const std::string& name); // "vaddpd" where it is AVX's

Elements elements_of(std::string_view name);
bool computes(std::string_view name);
bool compares_into_flags(std::string_view name);
// Makes whole vectors of whole vectors in scalar code as well: signs, masks and copies.
bool is_whole(std::string_view name);
bool is_zeroing(std::string_view name, const DecodedInstruction&);
// With AVX such an instruction on a single element takes the rest from one operand more; its packed counterpart has none.
bool takes_one_vector(std::string_view name);

// Into as many parts the loop's vector instructions can be divided, each with the same ones: how often it was unrolled, at most.
unsigned equal_parts(const ZydisEncoder&, const std::vector<DecodedInstruction>& loop);

// Of one that elements_of() knows and that does not move.
std::string packed_name(std::string_view name);
// Those without AVX want their memory aligned, but for these.
bool loads_from_anywhere(std::string_view packed);

} // namespace plumb::record

#endif
