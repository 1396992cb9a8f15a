// Where the program itself stands, when it was interrupted inside code that the alignment trap put in its way.
#pragma once

namespace plumb::shim {

// `context` is a ucontext_t as a signal handler gets it. If its instruction pointer lies in a slot or a rewritten
// site, or if it is being stepped over an instruction, it is moved to the instruction of the program, before or
// after it, with the flags, the stack pointer, the registers and the signal mask that the program has there; the
// alignment flag stays set where the thread is armed. Anything else is left alone. Signal-safe, idempotent.
void make_context_natural(void* context);

// Whether the calling thread's alignment flag is the program's own: it has set it in the context of a signal handler. The
// trap ends for the whole process when that happens, since hits cannot be distinguished. Signal-safe.
bool program_has_alignment_flag();
void give_alignment_flag_to_program(bool set);

} // namespace plumb::shim
