#include "diagnoses/common/unplaced_lines.h"

#include "analyses/lines/launch_command.h"

namespace plumb {

namespace {

constexpr double kSayUnplaced = 0.2;    // of the cost: said as evidence from here on
constexpr double kAdviseUnplaced = 0.5; // and recording again is worth it

} // namespace

void note_unplaced(const LineShares& lines, const model::Run& run, Finding& finding) {
    if (lines.unplaced_fraction() < kSayUnplaced)
        return;
    finding.evidence["without_caller_fraction"] = lines.unplaced_fraction();
    if (lines.unplaced_fraction() >= kAdviseUnplaced)
        finding.advice.push_back({"Make the callers traceable",
            "most of these samples have no stack that leads to a line of the program: it passes code without call-frame "
            "information (generated code, a stripped .eh_frame), it is deeper than the copied part, or the run used "
            "--call-graph=fp or none; a build with -fno-omit-frame-pointer can be unwound by frame pointers", "launch",
            plumb_run_line(run, "--call-graph=fp")});
}

} // namespace plumb
