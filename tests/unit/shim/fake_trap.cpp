// A process without alignment trap and without confinement, for the parts of the shim that ask.
#include "record/align/alignment_collector.h"
#include "record/align/resume_at_original.h"
#include "record/process/process.h"

namespace plumb::shim {

bool is_armed() { return false; }
void make_context_natural(void*) {}
bool program_has_alignment_flag() { return false; }
void give_alignment_flag_to_program(bool) {}
bool is_confined() { return false; }

} // namespace plumb::shim
