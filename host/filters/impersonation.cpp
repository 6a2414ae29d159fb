// WithImpersonation: acting as another user is not offered.  A request that asks for it is refused: serving it as its sender would do
// with the sender's rights what was meant to be done with fewer.
#include "filters/filters.hpp"

namespace backplane {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool starts_with_no_case(std::string_view text, std::string_view lower_prefix) {
  if (text.size() < lower_prefix.size()) return false;
  for (std::size_t i = 0; i < lower_prefix.size(); ++i) {
    if (lower(text[i]) != lower_prefix[i]) return false;
  }
  return true;
}

class Impersonation final : public Filter {
 public:
  Step enter(FilterCall& call) const override {
    bool asked = false;
    for (const auto& [name, value] : call.exchange->headers()) asked = asked || starts_with_no_case(name, "impersonate-");
    if (!asked) return Step::kNext;
    const std::string_view user = call.exchange->header("impersonate-user");
    call.refusal.status = user.empty() ? without_user(call) : refused(call, user);
    return Step::kRefuse;
  }

 private:
  static Status without_user(FilterCall& call) {
    std::string groups;
    for (const auto& [name, value] : call.exchange->headers()) {
      if (starts_with_no_case(name, "impersonate-group")) groups += (groups.empty() ? "" : ", ") + quoted(value);
    }
    const std::string group_text = groups.empty() ? "[]string(nil)" : "[]string{" + groups + "}";
    return bad_request("requested &user.DefaultInfo{Name:\"\", UID:" + quoted(call.exchange->header("impersonate-uid")) +
                       ", Groups:" + group_text + ", Extra:map[string][]string(nil)} without impersonating a user name");
  }
  static Status refused(FilterCall& call, std::string_view user) {
    return forbidden(
        "", "users", user,
        "User " + quoted(call.context.user->name) +
            " cannot impersonate resource \"users\" in API group \"\" at the cluster scope: impersonation is not offered by this server");
  }
};

}  // namespace

FilterPtr with_impersonation(const ChainConfig&) { return std::make_unique<Impersonation>(); }

}  // namespace backplane
