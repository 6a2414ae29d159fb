set(sources rows.cpp evaluation.cpp expression_compiler.cpp go_values.cpp match_resources.cpp mutating.cpp object_form.cpp object_patch.cpp
  object_trees.cpp params.cpp patched_kind.cpp policy.cpp policy_config.cpp policy_index.cpp policy_metrics.cpp policy_mutation.cpp policy_request.cpp policy_source.cpp reinvocation.cpp
  validating.cpp validation_outcome.cpp validator.cpp)
set(tests policy_test.cpp match_resources_test.cpp validating_test.cpp object_patch_test.cpp mutating_test.cpp)
