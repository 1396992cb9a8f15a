// The part of a cost for which no line of the program is known.
#pragma once

#include "analyses/lines/line_shares.h"
#include "diagnoses/finding.h"
#include "model/run.h"

namespace plumb {

// Says in `finding` how large it is, and how to record so that lines can be named.
void note_unplaced(const LineShares& lines, const model::Run& run, Finding& finding);

} // namespace plumb
