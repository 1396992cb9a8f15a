// How places in code are written in every form of the report.
#pragma once

#include "analysis/report.h"

#include <string>
#include <vector>

namespace plumb {

// "file:line in function", as much of it as is known.
std::string location_text(const Location& location);

// The same for the user's line of a profile.
std::string frame_text(const model::SourceFrame& frame);

// The same in at most `width` columns if dropping leading folders of the path can do that: "…/src/app.c:12 in
// f".
std::string short_frame_text(const model::SourceFrame& frame, size_t width);

// Where its instructions were: "in sin of libm.so.6". Empty when that is the user's line itself.
std::string leaf_text(const HotLine& line);

// "about 12 %", "up to 48 %": by the kind of the gain. Empty when nothing is gained.
std::string gain_text(const Gain& gain);

// What its fractions are parts of: "the run".
std::string whole_words(const Finding& finding);

// The same with what is certain of it: "about 12 % of the run, at least 4.0 %".
std::string whole_gain_text(const Finding& finding);

// "overlaps finding 1: the two gains do not add up", by the numbers of the text report. Empty without overlaps.
std::string overlap_text(const Finding& finding);

// Of the first `limit` findings with a gain, those that overlap: "The gains of 1, 2 and 3 overlap: ...". Empty without overlaps.
std::string overlaps_text(const std::vector<const Finding*>& findings, size_t limit);

// The first place where the title does not name it, else empty.
std::string place_beside_title(const Finding& finding);

// "and 1 more place", "and 7 more places"
std::string more_places(size_t count);

// True when the subject only repeats where the finding is (an allocation or call site).
bool names_first_place(const Finding& finding);

// Programs are given on the command line too (python3 -c ...): what heads a report is cut to `limit` code
// points.
std::string headline_of(const std::vector<std::string>& command, size_t limit);

} // namespace plumb
