// The conversion webhook of one definition.
// The numbers of concurrent calls and of connections are limited (further calls wait, at most for their timeout); the number of objects of
// a call and the size of its response are limited, too.
// Thread-safety: any executor.
// Lifetime:      shared by the converters of a definition; the host outlives it.
// Errors:        code 500 without a reason, with upstream's messages; every call reports problems of the configuration.
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
  // The body of a response with code 200.
  Task<Result<WebhookAnswer>> call(std::string body);
  Task<ReviewAnswer> convert_part(std::shared_ptr<const ReviewQuestion> question, std::span<const Object> part);

  const WebhookConfig config_;
  WebhookClient client_;
};

}  // namespace backplane::apiextensions
