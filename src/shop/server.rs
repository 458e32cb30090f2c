//! The start and the end of the service, in order.
//!
//! The ports are bound first, because a port in use is the likeliest mistake and costs nothing
//! to find; they are announced last, when PostgreSQL and Redis have answered. SIGTERM stops the
//! listening and leaves the requests under way two seconds, no more: an order service must
//! survive SIGKILL at any step, so a long goodbye would only hide what it can't survive.

use std::{future::IntoFuture, sync::Arc, time::Duration};

use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{error::ShopError, listen, paying, routes, settings::ShopArgs, speak, state::Shop};

const GOODBYE: Duration = Duration::from_secs(2);

/// Serves until SIGTERM or SIGINT. `--list-defects` is the caller's: see [`super::defects()`].
pub async fn serve(args: ShopArgs) -> Result<(), ShopError> {
    listen::raise_file_limit()?;
    let orders = listen::listen(args.listen, "listen")?;
    let counter =
        args.counter_listen.map(|address| listen::listen(address, "counter-listen")).transpose()?;
    let end_signal = end_signal()?;
    let shop = Arc::new(Shop::open(args).await?);

    let orders_address = listen::address_of(&orders)?;
    let counter_address = counter.as_ref().map(listen::address_of).transpose()?;
    speak::listening(orders_address, counter_address)?;

    let ending = CancellationToken::new();
    let reconciling = paying::reconcile_until(Arc::clone(&shop), ending.clone());
    let reconciling = tokio::spawn(reconciling);
    let serving = serve_both(Arc::clone(&shop), orders, counter, ending.clone());
    tokio::pin!(serving);
    tokio::select! {
        served = &mut serving => return served,
        () = end_signal => ending.cancel(),
    }
    shop.chains.close();
    let goodbye = async {
        let served = serving.await;
        shop.chains.wait().await;
        // A panic of it has been told by the runtime.
        let _ = reconciling.await;
        served
    };
    timeout(GOODBYE, goodbye).await.unwrap_or(Ok(()))
}

async fn serve_both(
    shop: Arc<Shop>,
    orders: TcpListener,
    counter: Option<TcpListener>,
    ending: CancellationToken,
) -> Result<(), ShopError> {
    let orders = axum::serve(listen::without_delay(orders), routes::orders(Arc::clone(&shop)))
        .with_graceful_shutdown(ending.clone().cancelled_owned())
        .into_future();
    let counter = async {
        match counter {
            Some(listener) => {
                axum::serve(listen::without_delay(listener), routes::counter(shop))
                    .with_graceful_shutdown(ending.cancelled_owned())
                    .await
            }
            None => Ok(()),
        }
    };
    tokio::try_join!(orders, counter)
        .map(|((), ())| ())
        .map_err(|source| ShopError::System { doing: "serving requests", source })
}

/// Ends at the first SIGTERM or SIGINT; both are caught from now on.
fn end_signal() -> Result<impl Future<Output = ()>, ShopError> {
    let failed = |source| ShopError::System { doing: "listening for signals", source };
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
