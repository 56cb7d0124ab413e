// The builder.
