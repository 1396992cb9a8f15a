// A table of losses that another tool measured, as a run that measured noise: so it gets the same report.
#pragma once

#include "model/run.h"
#include "noise/losses_csv.h"

namespace plumb {

// Nothing but when each CPU lost how much is known of it: no causes, no quanta without a loss. `name`: of the table.
model::Run run_of_losses(const noise::LossesTable& table, const std::string& name);

} // namespace plumb
