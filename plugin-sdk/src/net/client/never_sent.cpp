#include "backplane/net/client.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr std::string_view kNeverSent = "CallNeverSent";

}  // namespace

bool never_sent(const Status& status) noexcept {
  const StatusDetails* details = status.details();
  return details != nullptr && !details->causes.empty() && details->causes.front().reason == kNeverSent;
}

Status as_never_sent(Status status) {
  StatusDetails details;
  details.causes.push_back({std::string(kNeverSent), "", ""});
  return std::move(status).with_details(std::move(details));
}

}  // namespace BACKPLANE_API
