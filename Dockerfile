# The action's image. No step needs BuildKit: runners with the classic builder
# build it as well. What may enter the build is in .dockerignore.
FROM golang:1.26-alpine3.23 AS build
LABEL org.cutwatch.stage=build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY internal internal
# A release's version; without one it is the source's own.
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w ${VERSION:+-X main.Version=$VERSION}" -o /out/cutwatch ./cmd/cutwatch

# A base with a shell: runners on Kubernetes start a container action with sh,
# env and tail. It brings the CA roots for probing https.
FROM alpine:3.23
ARG VERSION=
LABEL org.opencontainers.image.title=cutwatch \
      org.opencontainers.image.description="Did this deploy drop a request?" \
      org.opencontainers.image.licenses=MIT \
      org.opencontainers.image.version=$VERSION
COPY --from=build /out/cutwatch /usr/local/bin/cutwatch
# The post step is the same program under another name: a runner gives an entry
# point no arguments of its own. The rest fails the build where the base lacks
# what is needed.
RUN ln -s cutwatch /usr/local/bin/cutwatch-post \
 && for tool in sh env tail; do command -v $tool || exit 1; done \
 && test -s /etc/ssl/certs/ca-certificates.crt
# Root, as the runner expects: the workspace and the Docker socket are not ours
# to ask for otherwise. Exec form, so that signals reach the program itself.
ENTRYPOINT ["/usr/local/bin/cutwatch"]
CMD ["action"]
