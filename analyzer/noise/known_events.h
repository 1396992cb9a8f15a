// Are losses those of classes that are known already: what their trains missed, or sums of their events?
#pragma once

#include "noise/class_assembly.h"

#include <vector>

namespace plumb::noise {

// Of `events` losses with lengths in the band, which seem to be a class of their own: they are few, and as long as the events
// of a known class that has many times as many; or as long as two or three known events that meet in one loss, and no more than
// such meetings are to be expected. A rare class that is just as long as a frequent one cannot be distinguished from what is left of
// that.
bool is_of_known_events(LengthBand band, double events, const std::vector<FoundClass>& known, MachineSize machine,
                        double grain_s);

} // namespace plumb::noise
