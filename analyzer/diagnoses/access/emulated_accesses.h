// Accesses that the CPU refuses and the kernel carries out: alignment and emulation faults.
#pragma once

#include "analyses/time/run_totals.h"
#include "diagnoses/diagnosis.h"

#include <vector>

namespace plumb {

// A finding of kernel-time for each kind that the kernel counted during the run (the software events alignment-faults
// and emulation-faults, of CPUs and kernels that have them). Nothing when there were few.
std::vector<Finding> emulated_access_findings(const DiagnosisInput& input, const RunTotals& totals);

} // namespace plumb
