// Regions that the program names through the public interface.
#pragma once

namespace plumb::shim {

// Thread-safe. A name is written once a process; up to 1,024 different names are kept, further ones are written
// each time they are used.
void record_region(const char* name, bool begins);

} // namespace plumb::shim
