#include "app/extension/outer_client.hpp"

#include <cctype>

namespace backplane {
namespace {

// Escapes the key of an extra user attribute for the name of a header, as client-go's headerKeyEscape.
std::string escaped(std::string_view key) {
  constexpr std::string_view kDigits = "0123456789ABCDEF", kToken = "!#$&'*+-.^_`|~";
  std::string out;
  for (const char character : key) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isalnum(byte) != 0 || kToken.find(character) != std::string_view::npos) {
      out += character;
    } else {
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return out;
}

constexpr std::string_view kCore = "/api/", kNamed = "/apis/";

class OuterClient final : public HttpClient {
 public:
  OuterClient(std::shared_ptr<HttpClient> local, std::shared_ptr<HttpClient> outer, std::function<bool(std::string_view)> is_local,
              std::optional<UserInfo> user)
      : local_(std::move(local)), outer_(std::move(outer)), is_local_(std::move(is_local)), user_(std::move(user)) {}

  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    const auto group = group_of_path(call.target);
    if (!group || is_local_(*group)) return local_->call(std::move(call));
    if (user_) impersonate(call.headers);
    return outer_->call(std::move(call));
  }

 private:
  void impersonate(Headers& headers) const {
    headers.emplace_back("Impersonate-User", user_->name);
    if (!user_->uid.empty()) headers.emplace_back("Impersonate-Uid", user_->uid);
    for (const std::string& group : user_->groups) headers.emplace_back("Impersonate-Group", group);
    for (const auto& [key, values] : user_->extra) {
      for (const std::string& value : values) headers.emplace_back("Impersonate-Extra-" + escaped(key), value);
    }
  }

  const std::shared_ptr<HttpClient> local_, outer_;
  const std::function<bool(std::string_view)> is_local_;
  const std::optional<UserInfo> user_;
};

}  // namespace

std::optional<std::string_view> group_of_path(std::string_view target) {
  target = target.substr(0, target.find('?'));
  if (target.starts_with(kCore)) return target.size() > kCore.size() ? std::optional<std::string_view>("") : std::nullopt;
  if (!target.starts_with(kNamed)) return std::nullopt;
  target.remove_prefix(kNamed.size());
  const std::string_view group = target.substr(0, target.find('/'));
  return group.empty() ? std::nullopt : std::optional<std::string_view>(group);
}

std::shared_ptr<HttpClient> make_outer_client(std::shared_ptr<HttpClient> local, std::shared_ptr<HttpClient> outer,
                                              std::function<bool(std::string_view)> is_local, std::optional<UserInfo> user) {
  return std::make_shared<OuterClient>(std::move(local), std::move(outer), std::move(is_local), std::move(user));
}

}  // namespace backplane
