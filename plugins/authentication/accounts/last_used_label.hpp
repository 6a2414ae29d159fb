// Writes the label kubernetes.io/legacy-token-last-used to secrets by requests to this server.
//
// Thread-safety: any thread.
// Errors:        those of the patch; kServiceUnavailable before the server's hooks have run.
#pragma once

#include "accounts/claims_validator.hpp"
#include "backplane/net/client.hpp"

namespace backplane::authentication {

class LastUsedLabel final : public LastUsedWriter {
 public:
  explicit LastUsedLabel(std::shared_ptr<HttpClient> client) : client_(std::move(client)) {}
  Task<Status> write(std::string ns, std::string name, std::string uid, std::string date) override;

 private:
  ApiClient client_;
};

}  // namespace backplane::authentication
