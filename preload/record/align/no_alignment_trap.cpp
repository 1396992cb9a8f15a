// Where the processor has no alignment trap that programs can switch on: it is missing evidence.
#include "record/align/alignment_collector.h"

#include "record/process/process.h"
#include "record/process/settings.h"
#include "record/process/trace_writer.h"

#include <string.h>

namespace plumb::shim {
namespace {

bool start(bool forked) {
    const Guard guard;
    const char* text = settings.text(Setting::kAlign);
    if (!forked && guard && text && strcmp(text, "off") != 0)
        write_evidence(guard, "alignment-trap", trace::EvidenceState::missing,
                       "this processor architecture has no alignment trap that programs can switch on",
                       "a processor whose events count unaligned accesses (Arm: unaligned_ldst_spec, or SPE), where perf may use them");
    return false;
}

} // namespace

constinit const Collector alignment_collector = {"align", false, start, nullptr, nullptr, nullptr};
void arm_at_main() {}
void alignment_modules_changed() {}
bool is_armed() { return false; }
void alignment_thread_past_hooks() {}
void alignment_storage_is_shared() {}
void stop_alignment_trap() {}

} // namespace plumb::shim
