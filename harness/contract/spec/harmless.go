package spec

import (
	"errors"

	"github.com/getkin/kin-openapi/openapi3"
)

// isHarmful reports whether a mistake that the loader's library finds can change what lockstep judges. Only such a
// mistake is an error; the others are noted.
func isHarmful(err error) bool {
	return !(is[*openapi3.SecurityRequirementSchemeUndefinedError](err) ||
		is[*openapi3.InvalidSecuritySchemeTypeError](err) ||
		is[*openapi3.InvalidHTTPSchemeError](err) ||
		is[*openapi3.APIKeyInInvalidError](err) ||
		is[*openapi3.SecuritySchemeFlowValidationError](err) ||
		is[*openapi3.OAuthFlowValidationError](err) ||
		is[*openapi3.OAuthFlowFieldValidationError](err) ||
		is[*openapi3.ExternalDocsURLValidationError](err) ||
		is[*openapi3.TagValidationError](err) ||
		is[*openapi3.DuplicateTagError](err) ||
		is[*openapi3.DuplicateOperationIDError](err) ||
		is[*openapi3.ConflictingPathsError](err) ||
		is[*openapi3.ServerURLTemplateError](err) ||
		is[*openapi3.MediaTypeExampleValidationError](err) ||
		is[*openapi3.ParameterExampleValidationError](err) ||
		is[*openapi3.MutuallyExclusiveFieldsError](err) || // example and examples
		is[*openapi3.MediaTypeEncodingValidationError](err) ||
		is[*openapi3.InvalidEncodingContentTypeError](err) ||
		is[*openapi3.WebhookValidationError](err) ||
		is[*openapi3.WebhookNilError](err) ||
		is[*openapi3.RequiredFieldError](err) && !isNeeded(err) || // such as info, descriptions and responses
		is[*openapi3.DuplicateRequiredFieldError](err) ||
		is[*openapi3.FieldVersionMismatchError](err)) // a keyword of another version of OpenAPI, which is read as there
}

// isNeeded reports whether a field is missing without which a document cannot be read.
func isNeeded(err error) bool {
	return is[*openapi3.OpenAPIVersionRequired](err) || is[*openapi3.PathsRequired](err) || is[*openapi3.ParameterNameRequired](err)
}

func is[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}
