// "%d of %s".format([…]).
//
// Thread-safety: pure function.
// Errors:        worded like upstream's.
#pragma once

#include "cel/functions.hpp"

namespace backplane::cel_detail {

Val format_text(Call& call);

}  // namespace backplane::cel_detail
