# A host for a class: docker build -t headlight . && docker run --rm -p 127.0.0.1:8501:8501 headlight
FROM python:3.11-slim
WORKDIR /opt/headlight
COPY . .
ENV HEADLIGHT_HUB=0 HEADLIGHT_ATLASES=off HEADLIGHT_CACHE=/opt/headlight/.cache PIP_NO_CACHE_DIR=1
RUN scripts/install
USER nobody
CMD [".venv/bin/streamlit", "run", "app.py", "--server.headless=true", "--server.address=0.0.0.0"]
