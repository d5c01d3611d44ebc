package agentsdk_test

type object = map[string]any
