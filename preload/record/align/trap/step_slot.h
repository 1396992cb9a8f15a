// Slots: copies of single instructions outside the program's code. A thread that was trapped at an instruction goes on
// in its slot, where the instruction runs with the alignment flag clear; the code behind it sets the flag again and
// jumps back behind the original. Everything is signal-safe and thread-safe.
#pragma once

#include "record/align/sites/site.h"

#include <ucontext.h>

namespace plumb::shim {

// Where to send a thread that stands at the site; 0: the instruction cannot run elsewhere, or not now.
uint64_t slot_of(Site& site);

struct SlotCode {
    uint64_t start, end, address; // [start, end) stands for the instruction at `address`
};
SlotCode code_of_slot(const Site& site); // of a site whose slot is not 0

bool is_in_slot(uint64_t pc);

uint64_t instruction_of_slot(uint64_t pc); // 0: not in a slot

// In a forked child: the thread that was building a slot at that moment does not exist here.
void continue_slots_in_child();

// `context` stands in a slot: moves it to where the program itself would be, before or behind the instruction.
void leave_slot(ucontext_t* context);

} // namespace plumb::shim
