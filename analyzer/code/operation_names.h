// What an instruction computes with floating point numbers, by its mnemonic. The names of x86 are regular: a root, and two
// letters for scalar or packed and single or double precision; AVX puts a v in front.
#pragma once

#include <cstdint>
#include <string_view>

namespace plumb::code {

struct Operation {
    enum class Kind : uint8_t {
        none, // integers, control, or not known
        add,  // and subtract
        multiply,
        fused, // multiply and add
        divide,
        square_root,
        extreme, // minimum, maximum
        compare,
        convert_precision, // single to double, or back
        convert_integer,   // from or to integers
        move,
        arrange, // moves elements within vector registers
        bitwise, // on floating point data: signs and masks
        gather,  // and scatter
    };
    static constexpr int kKinds = 14;

    Kind kind = Kind::none;
    uint8_t element_bytes = 0; // 4 or 8; 10 of x87; 0: no floating point
    uint8_t lanes = 0;         // elements at once; 1: scalar

    bool computes() const { return kind >= Kind::add && kind <= Kind::extreme; }
    bool is_packed() const { return lanes > 1; }
    unsigned operations() const { return computes() ? lanes * (kind == Kind::fused ? 2u : 1u) : 0; } // of floating point
};

// `vector_bytes`: of the widest vector register that is an operand, 0: there is none ("movsd" and "cmpsd" are also names of
// string instructions).
Operation operation_named(std::string_view mnemonic, unsigned vector_bytes);

// Which of a fused operation's three operands is only added: "vfmadd231sd" adds to the first. 0 to 2.
int addend_of_fused(std::string_view mnemonic);

} // namespace plumb::code
