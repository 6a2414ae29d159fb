#include "app/extension/always_allow_paths.hpp"

#include <algorithm>

namespace backplane {
namespace {

class AlwaysAllowPaths final : public Authorizer {
 public:
  explicit AlwaysAllowPaths(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  std::string_view name() const noexcept override { return "always-allow-paths"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override {
    const bool open = !request.resource_request &&
                      std::any_of(paths_.begin(), paths_.end(), [&](const std::string& path) { return covers(path, request.path); });
    return AuthorizerResult{open ? Decision::kAllow : Decision::kNoOpinion, "", {}};
  }

 private:
  static bool covers(std::string_view wanted, std::string_view path) {
    while (wanted.starts_with('/')) wanted.remove_prefix(1);
    while (path.starts_with('/')) path.remove_prefix(1);
    if (!wanted.ends_with('*')) return wanted == path;
    return path.starts_with(wanted.substr(0, wanted.size() - 1));
  }
  const std::vector<std::string> paths_;
};

}  // namespace

std::shared_ptr<Authorizer> make_always_allow_paths(std::vector<std::string> paths) {
  return std::make_shared<AlwaysAllowPaths>(std::move(paths));
}

}  // namespace backplane
