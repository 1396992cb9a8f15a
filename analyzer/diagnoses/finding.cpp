#include "diagnoses/finding.h"

namespace plumb {

Severity severity_of_cost(double fraction) {
    if (fraction >= 0.10)
        return Severity::high;
    return fraction >= 0.03 ? Severity::medium : Severity::low;
}

const char* to_string(Severity severity) {
    switch (severity) {
    case Severity::high:
        return "high";
    case Severity::medium:
        return "medium";
    case Severity::low:
        return "low";
    case Severity::info:
        break;
    }
    return "info";
}

} // namespace plumb
