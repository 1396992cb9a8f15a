#include "diagnoses/registry.h"

#include "diagnoses/common/counter_witness.h"

namespace plumb {

namespace {

// "false_sharing" as users write it: "false-sharing".
template <size_t Size> struct DashedName {
    char text[Size] = {};
    constexpr explicit DashedName(const char (&name)[Size]) {
        for (size_t i = 0; i < Size; ++i)
            text[i] = name[i] == '_' ? '-' : name[i];
    }
};

#define X(folder, name, summary) constexpr DashedName id_of_##name(#name);
#include "diagnoses/registry.def"
#undef X

constexpr DiagnosisEntry kEntries[] = {
#define X(folder, name, summary) {id_of_##name.text, summary, make_##name},
#include "diagnoses/registry.def"
#undef X
};

} // namespace

std::span<const DiagnosisEntry> diagnosis_registry() { return kEntries; }

std::vector<Finding> findings_of(const DiagnosisEntry& entry, const DiagnosisInput& input) {
    std::vector<Finding> findings = entry.make()->diagnose(input);
    const double run_s = static_cast<double>(input.run.wall_ns()) * 1e-9;
    for (Finding& finding : findings) {
        finding.severity = finding.fixed_severity.value_or(severity_of(finding.gain, run_s));
        hear_counters(finding, input.run);
    }
    return findings;
}

} // namespace plumb
