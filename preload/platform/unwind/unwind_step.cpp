#include "platform/unwind/unwind_step.h"

#include "platform/unwind/unwind_table.h"

namespace plumb::shim {

Step step_to_caller(Frame* frame, StackReader* stack, StepFacts* facts) {
    return step_by_rule<false>(find_unwind_rule(frame->lookup_pc()), frame, stack, facts);
}

} // namespace plumb::shim
