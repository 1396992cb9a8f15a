// A diagnosis looks at the model and says what is out of plumb. One file each, listed in registry.def.
#pragma once

#include "diagnoses/finding.h"
#include "model/call_paths.h"
#include "model/run.h"

#include <memory>
#include <vector>

namespace plumb {

struct Analyses;

struct DiagnosisInput {
    const model::Run& run;
    model::CallPaths& paths; // resolves and caches source frames; not thread-safe
    const Analyses& analyses; // what several diagnoses need, computed before the first: see analyses/analyses.h
};

class Diagnosis {
  public:
    virtual ~Diagnosis() = default;
    virtual const char* id() const = 0;
    // One finding for each thing that is wrong; nothing when the evidence does not carry one.
    virtual std::vector<Finding> diagnose(const DiagnosisInput& input) const = 0;
};

using DiagnosisFactory = std::unique_ptr<Diagnosis> (*)();

} // namespace plumb
