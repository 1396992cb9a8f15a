// Where the shim wakes up. The loader calls start() once in every process it was preloaded into, before the
// program's own constructors and before main.
#include "hooks/mpi/absent_functions.h"
#include "hooks/openmp/runtime_functions.h"
#include "hooks/real_functions.h"
#include "platform/os/files.h"
#include "platform/os/ids_and_clocks.h"
#include "platform/os/system_call.h"
#include "platform/os/text.h"
#include "record/collector.h"
#include "record/pin/pin.h"
#include "record/process/launcher.h"
#include "record/process/own_cost.h"
#include "record/process/process.h"
#include "record/process/process_filter.h"
#include "record/process/settings.h"
#include "record/process/shim_start.h"
#include "record/process/trace_writer.h"
#include "record/process_lifecycle.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

namespace plumb::shim {
namespace {

void say(const char* text, size_t length) { system_call(SYS_write, 2, word(text), static_cast<long>(length)); }

void say_effect(const char* executable, const char* effect, int error) {
    Text<PATH_MAX + 256> line;
    line << "plumb: " << executable << " (" << process_id() << "): " << effect;
    if (error != 0)
        line << ", error " << static_cast<uint64_t>(-error);
    line << "\n";
    say(line.c_str(), line.length());
}

__attribute__((constructor)) void start(int, char** arguments, char** environment) {
    const int error_of_program = errno;
    const OwnCost cost;
    const ShimStart starting;
    resolve_real_functions();
    resolve_recent_functions();
    mpi::hide_absent_functions_at_start();
    openmp::note_objects_at_start();
    settings.read(environment);
    const char* run = settings.text(Setting::kRunDirectory);
    const bool verbose = settings.number(Setting::kVerbose, 0) != 0;
    char executable[PATH_MAX] = {};
    if (read_link("/proc/self/exe", executable, sizeof executable) <= 0)
        strncpy(executable, arguments && arguments[0] ? arguments[0] : "", sizeof executable - 1);
    const FilterVerdict scope = filter_verdict_of(executable, arguments ? arguments[0] : nullptr, settings.text(Setting::kInclude),
                                 settings.text(Setting::kExclude), is_direct_child_of_plumb());
    const bool wanted = run && run[0] == '/' && scope == FilterVerdict::recorded;
    int error = 0;
    if (wanted)
        error = begin_process(read_launch_facts(environment));
    if (scope == FilterVerdict::recorded) {
        start_collectors(recording(), false);
        record_modules_at_start();
        pthread_atfork(prepare_fork, continue_in_parent, continue_in_child);
    } else {
        pin_start_dormant();
    }
    if (verbose) {
        say_effect(executable, !run ? "records nothing: PLUMB_RUN is unset"
                               : run[0] != '/' ? "records nothing: PLUMB_RUN is not an absolute path"
                               : error != 0 ? "records nothing: its trace file cannot be created in PLUMB_RUN"
                                            : describe(scope), error);
        if (scope == FilterVerdict::recorded)
            settings.print(say);
    }
    errno = error_of_program;
}

} // namespace
} // namespace plumb::shim
