#include "backplane/rest/connect.hpp"

namespace backplane BACKPLANE_API {

OptionConnecter::~OptionConnecter() = default;
StreamGetter::~StreamGetter() = default;

Task<void> OptionConnecter::connect(RequestContext& context, std::string name, Exchange& exchange) {
  auto options = read_options(context, Query());
  if (!options.ok()) co_return;
  Status done = co_await connect_with(context, std::move(name), std::move(*options), exchange);
  (void)done;
}

std::string path_after_subresource(const RequestInfo& info) {
  std::string out;
  for (std::size_t i = 3; i < info.parts.size(); ++i) out.append("/").append(info.parts[i]);
  if (info.path.ends_with('/') && !out.ends_with('/')) out += '/';
  return out;
}

}  // namespace BACKPLANE_API
