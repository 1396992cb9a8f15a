// The life of a recorded process: what happens at its begin, in a forked child and at its end, in the right order.
#pragma once

#include "record/process/launcher.h"

#include <plumb/trace_format.h>
#include <stdint.h>

namespace plumb::shim {

// Begins to record this process into PLUMB_RUN and to see its end. Returns 0 or the negative error number of the
// trace file. Once, from the constructor.
int begin_process(const LaunchFacts&);

// Then, once the collectors have started: they may have loaded libraries, which would have to be scanned for again.
void record_modules_at_start();

// The handlers of pthread_atfork: in the parent before and after, in the child after. The child of a recorded process gets a
// file of its own. It takes no lock of the loader: another thread of the parent may have held it.
void prepare_fork();
void continue_in_parent();
void continue_in_child();

// Writes all that is to be written at the end, if this is the recorded process itself. Signal-safe as far as the
// collectors' process_end are.
void end_process(trace::EndKind, int32_t status);

void note_quick_exit_status(int status);

} // namespace plumb::shim
