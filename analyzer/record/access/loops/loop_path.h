// How a memory access moves from one round of its loop to the next, computed from the registers of a time sample and the
// loop's code: the code is followed once around, with the registers' values of that moment, until it comes to the same
// access again.
#pragma once

#include "record/access/code/access_rule.h"
#include "record/access/code/code_region.h"
#include "record/access/code/register_step.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace plumb::record {

struct LoopMove {
    int64_t stride = 0;  // bytes from one access of the walk to the next; of an unrolled loop, to that of its next copy
    uint64_t to_come = 0; // accesses of the walk from this one on to the end of the innermost loop; 0: not known
    bool stored = false; // the loop writes what it reads there
    int64_t round = 0;    // bytes from this access to itself in the next round of the loop
    uint64_t address = 0; // of the access that is met next
};

// The innermost loop around one access, from one sampled instruction on: what matters of it, and nothing else. Kept free
// of addresses, as AccessPlan is.
class LoopPath {
  public:
    // Null: the access stands in no loop that can be followed, or its address is not made of registers that the loop
    // changes. Ways through the loop: forward branches are not taken, loops inside it are taken to be over.
    static std::shared_ptr<const LoopPath> follow(const CodeRegion& code, uint64_t sampled, const AccessPlan& plan);

    // Nothing: the address moves in no way that the registers tell (it is loaded from memory, say), or unevenly.
    // About 0.1 us.
    std::optional<LoopMove> move(const shim::Registers& registers) const;

    // The address of the next access is made of what was loaded from where this one is: it has to wait for that, as in a
    // linked list.
    bool chases() const { return chases_; }

  private:
    struct Step {
        enum class Kind : uint8_t {
            assign, // `changed` is given `value`
            forget, // the registers of `forgotten` have values that are not known
            compare, // `value` is what the next conditional jump looks at
            uncompare, // that is not known
            turn,   // the loop's last conditional jump, taken
            access, // `operand`, of the access itself
            neighbour, // of another instruction that may walk along with it
        };
        Kind kind = Kind::forget;
        int8_t changed = -1;
        bool sign_extended = false;
        bool stores = false;
        uint32_t forgotten = 0;
        uint32_t loaded_by = 0; // the registers that the address of its load is made of
        uint32_t sources = 0;   // registers that an effect of unknown kind may depend on
        LinearValue value;
        shim::MemoryOperand operand{};
    };
    class Machine;
    bool add_way(const CodeRegion& code, uint64_t from, uint64_t access, const AccessPlan& plan, std::vector<Step>& way);
    bool waits_for_itself(const shim::MemoryOperand& operand) const;
    void keep_what_matters(const shim::MemoryOperand& operand);

    bool chases_ = false;
    bool begins_behind_ = false; // the sample was taken behind the access, before the loop came to it again
    int16_t base_moved_ = 0;      // see AccessPlan
    std::vector<Step> to_access_; // from the sampled instruction to the access
    std::vector<Step> around_;    // from the access to itself; the access is its last step
};

} // namespace plumb::record
