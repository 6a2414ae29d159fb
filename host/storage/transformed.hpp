// Calls storage transformers, which plugins implement. Converts exceptions to errors, and resumes the caller on the caller's executor.
//
// Thread-safety: any thread, if the transformer allows that.
// Errors:        the transformer's; kInternalError with the message of an exception.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/points/storage_transformer.hpp"

namespace backplane {

using TransformerRef = std::shared_ptr<const StorageTransformer>;

// The transformer for `resource`; null: there is none.  If find() throws, returns a transformer whose calls all fail.
TransformerRef find_transformer(const StorageTransformers& transformers, const GroupResource& resource);

// The result of the transformer, if it is available without waiting; nullopt: call from_storage(). `transformer` null: returns `bytes`
// unchanged.
std::optional<Result<StorageTransformer::Plain>> from_storage_now(const TransformerRef& transformer, std::string_view key,
                                                                  const SharedBytes& bytes);
// These functions wait only if the transformer must wait.
Task<Result<StorageTransformer::Plain>> from_storage(TransformerRef transformer, std::string key, SharedBytes bytes);
Task<Result<SharedBytes>> to_storage(TransformerRef transformer, std::string key, SharedBytes bytes);

}  // namespace backplane
