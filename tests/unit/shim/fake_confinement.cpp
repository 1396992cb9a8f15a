// A process without confinement, for the parts of the shim that ask.
#include "record/process/process.h"

namespace plumb::shim {

bool is_confined() { return false; }

} // namespace plumb::shim
