// WithImpersonation: acting as another user is not offered.  A request that asks for it is refused: serving it as its sender would do
// with the sender's rights what was meant to be done with fewer.  Headers that only look alike ("Impersonate-Foo") are no business of it.
#include <map>

#include "backplane/points/http.hpp"
#include "filters/filters.hpp"

namespace backplane {
namespace {

constexpr std::string_view kGroup = "impersonate-group";
constexpr std::string_view kExtraPrefix = "impersonate-extra-";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

bool is_of_impersonation(std::string_view header) {
  constexpr std::string_view kPrefix = "impersonate-";
  if (header.size() < kPrefix.size()) return false;
  for (std::size_t i = 0; i < kPrefix.size(); ++i) {
    if (lower(header[i]) != kPrefix[i]) return false;
  }
  return true;
}

// The user that a request asks to act as; groups and extra as Go prints them.
struct WantedUser {
  std::string name, uid, groups;
  std::map<std::string, std::string> extra;  // key → values
};

void add(std::string& list, std::string_view value) { list.append(list.empty() ? "" : ", ").append(quoted(value)); }

// A key that is no percent-encoded text stays as it is.
std::string extra_key(std::string_view name) {
  bool good = true;
  std::string key = percent_decode(name.substr(kExtraPrefix.size()), false, &good);
  return good ? key : std::string(name.substr(kExtraPrefix.size()));
}

WantedUser wanted_user(const Exchange& exchange) {
  WantedUser wanted;
  wanted.name = exchange.header("impersonate-user");
  wanted.uid = exchange.header("impersonate-uid");
  for (const auto& [header, value] : exchange.headers()) {
    const std::string name = lower(header);
    if (name == kGroup) add(wanted.groups, value);
    if (name.starts_with(kExtraPrefix)) add(wanted.extra[extra_key(name)], value);
  }
  return wanted;
}

Status without_user(const WantedUser& wanted) {
  std::string extra;
  for (const auto& [key, values] : wanted.extra) extra += (extra.empty() ? "" : ", ") + quoted(key) + ":[]string{" + values + "}";
  const std::string groups = wanted.groups.empty() ? "[]string(nil)" : "[]string{" + wanted.groups + "}";
  return bad_request("requested &user.DefaultInfo{Name:\"\", UID:" + quoted(wanted.uid) + ", Groups:" + groups +
                     ", Extra:map[string][]string" + (extra.empty() ? "(nil)" : "{" + extra + "}") + "} without impersonating a user name");
}

Status refused(const FilterCall& call, std::string_view user) {
  return forbidden("", "users", user,
                   "User " + quoted(call.context.user->name) +
                       " cannot impersonate resource \"users\" in API group \"\" at the cluster scope: impersonation is not offered by "
                       "this server");
}

class Impersonation final : public Filter {
 public:
  Step enter(FilterCall& call) const override {
    bool any = false;
    for (const auto& [name, value] : call.exchange().headers()) any = any || is_of_impersonation(name);
    if (!any) return Step::kNext;
    const WantedUser wanted = wanted_user(call.exchange());
    if (wanted.name.empty() && wanted.uid.empty() && wanted.groups.empty() && wanted.extra.empty()) return Step::kNext;
    call.refusal.status = wanted.name.empty() ? without_user(wanted) : refused(call, wanted.name);
    return Step::kRefuse;
  }
};

}  // namespace

FilterPtr with_impersonation(const ChainConfig&) { return std::make_unique<Impersonation>(); }

}  // namespace backplane
