#include "storage/temporary_failure.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace backplane {
namespace {

// The last text is upstream's error if a KMS plugin has not been healthy since the server started.
constexpr std::array<std::string_view, 6> kTemporary = {"rpc error: code = Unavailable",       "rpc error: code = DeadlineExceeded",
                                                        "rpc error: code = Canceled",          "rpc error: code = Aborted",
                                                        "rpc error: code = ResourceExhausted", "got unexpected nil transformer"};

}  // namespace

bool is_temporary_failure(const Status& why) {
  const std::string_view text = why.message();
  return std::any_of(kTemporary.begin(), kTemporary.end(),
                     [text](std::string_view each) { return text.find(each) != std::string_view::npos; });
}

}  // namespace backplane
