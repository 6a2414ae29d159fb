// The conversion webhook of one definition.
// The number of concurrent calls and of connections is limited; further calls wait until their timeout at the latest. The number of objects
// in one call is limited; more objects are converted by several calls. The size of a response is limited.
// Thread-safety: any executor.
// Lifetime:      shared by the converters of a definition; the host outlives it.
// Errors:        code 500 without a reason, with upstream's messages. Every call returns the error of an invalid configuration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/net/webhook.hpp"
#include "conversion_review.hpp"
#include "webhook_config.hpp"

namespace backplane::apiextensions {

class ConversionWebhook : public std::enable_shared_from_this<ConversionWebhook> {
 public:
  ConversionWebhook(Host& host, std::shared_ptr<ServiceResolver> services, WebhookConfig config);

  // Converts the objects, all of type `from`, to version `desired`; returns as many objects in the same order.
  Task<Result<std::vector<Object>>> convert(GroupVersionKind from, std::string desired, std::vector<Object> objects);

 private:
  // Returns the response if its code is 200 to 206.
  Task<Result<WebhookAnswer>> call(std::string body);
  Task<ReviewAnswer> convert_part(std::shared_ptr<const ReviewQuestion> question, std::span<const Object> part);

  const WebhookConfig config_;
  WebhookClient client_;
};

}  // namespace backplane::apiextensions
